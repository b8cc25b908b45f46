import { readFile, rm } from "node:fs/promises";
import { constants } from "node:os";
import { basename } from "node:path";
import type { CommandEnd } from "../process/command-runner.ts";

/**
 * Runs the rest of its arguments and writes a word into the file `$0` when a signal has ended them, as bash does on
 * its own standard error. The traps keep it from being ended before what it waits for.
 */
const REPORTER = 'trap : TERM INT HUP; exec 9>&2 2>"$0"; "$@" 2>&9 9>&-; exit $?';

/**
 * Arguments that report a death by a signal in a file, for wrappers that turn it into an exit code. Undefined for
 * shells other than bash.
 */
export function reportingSignals(
  shellArguments: readonly [string, ...string[]],
  file: string,
): [string, ...string[]] | undefined {
  const [program] = shellArguments;
  return basename(program) === "bash" ? [program, "-c", REPORTER, file, ...shellArguments] : undefined;
}

/**
 * The end of a command, which says again which signal it died of. Bash is silent about SIGINT and SIGPIPE.
 *
 * @param file written by {@link reportingSignals}; it is removed
 */
export async function withReport(end: CommandEnd, file: string): Promise<CommandEnd> {
  // A report that is gone reports nothing.
  const report = await readFile(file, "utf8").catch(() => "");
  await rm(file, { force: true }).catch(() => {});
  const number = (end.exitCode ?? 0) - 128;
  if (report === "" || end.reason !== "exited") return end;
  const entry = Object.entries(constants.signals).find(([, value]) => value === number);
  return entry === undefined ? end : { ...end, exitCode: null, signal: entry[0] };
}
