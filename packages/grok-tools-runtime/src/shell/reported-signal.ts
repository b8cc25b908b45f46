import { open, rm } from "node:fs/promises";
import { constants } from "node:os";
import { basename } from "node:path";
import type { CommandEnd } from "../process/command-runner.ts";

/** More than bash has to say. The command can write into the report, too. */
const MAX_REPORT_BYTES = 64 * 1024;

/**
 * Runs the rest of its arguments as a job and has bash write into the file `$0` how that ended: bash knows the signal
 * where an exit code cannot tell. The traps keep it from being ended before what it waits for; each cuts the waiting
 * short. A job that is stopped is looked at now and then.
 */
const REPORTER = `set -m
trap : TERM INT HUP
trap 'LC_ALL=C jobs -l >&2' CHLD
exec 9>&2 2>"$0"
"$@" 2>&9 9>&- &
while wait $!; status=$?; kill -0 $! 2>&-; do case $(jobs -s) in ?*) sleep 0.2;; esac; done
exit $status`;

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
 * The end of a command, which says again which signal it died of.
 *
 * @param file written by {@link reportingSignals}; it is removed
 */
export async function withReport(end: CommandEnd, file: string): Promise<CommandEnd> {
  // A report that is gone reports nothing.
  const report = await readEnd(file).catch(() => "");
  await rm(file, { force: true }).catch(() => {});
  // What bash says of its job, the last time: its number, its process, then how it is.
  const last = [...report.matchAll(/^\[\d+\][ +-]*(?:\d+ )?([A-Z].*)$/gm)].at(-1)?.[1];
  const isOfItself = last === undefined || /^(Exit|Done|Running|Stopped)\b/.test(last);
  if (isOfItself || end.reason !== "exited") return end;
  const number = (end.exitCode ?? 0) - 128;
  const entry = Object.entries(constants.signals).find(([, value]) => value === number);
  return entry === undefined ? end : { ...end, exitCode: null, signal: entry[0] };
}

async function readEnd(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  const bytes = Buffer.alloc(Math.min(size, MAX_REPORT_BYTES));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
  return bytes.toString("utf8", 0, bytesRead);
}
