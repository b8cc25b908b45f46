import { readFile, rm } from "node:fs/promises";
import { constants } from "node:os";
import { basename } from "node:path";
import type {
  Command,
  CommandEnd,
  CommandOutput,
  CommandStatus,
  OutputChunk,
  OutputStream,
} from "../process/command-runner.ts";

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

/** A command whose end says again which signal it died of. Bash is silent about SIGINT and SIGPIPE. */
export class SignalReportingCommand implements Command {
  readonly ended: Promise<CommandEnd>;
  readonly #command: Command;

  /** @param file written by {@link reportingSignals}; removed at the end */
  constructor(command: Command, file: string) {
    this.#command = command;
    this.ended = command.ended.then((end) => withReport(end, file));
  }

  get commandId(): string {
    return this.#command.commandId;
  }

  get pid(): number | undefined {
    return this.#command.pid;
  }

  get status(): CommandStatus {
    return this.#command.status;
  }

  get startedAtMs(): number {
    return this.#command.startedAtMs;
  }

  get stderr(): OutputStream | undefined {
    return this.#command.stderr;
  }

  get vacated(): Promise<void> {
    return this.#command.vacated;
  }

  get outputBytes(): number {
    return this.#command.outputBytes;
  }

  output(): Promise<CommandOutput> {
    return this.#command.output();
  }

  readLog(offset: number, maxBytes: number): Promise<Uint8Array> {
    return this.#command.readLog(offset, maxBytes);
  }

  chunks(signal: AbortSignal): AsyncIterable<OutputChunk> {
    return this.#command.chunks(signal);
  }

  kill(reason: "cancelled" | "killed" | "session-ended", graceMs: number): Promise<CommandEnd> {
    return this.#command.kill(reason, graceMs);
  }

  release(): Promise<void> {
    return this.#command.release();
  }
}

async function withReport(end: CommandEnd, file: string): Promise<CommandEnd> {
  // A report that is gone reports nothing.
  const report = await readFile(file, "utf8").catch(() => "");
  await rm(file, { force: true }).catch(() => {});
  const number = (end.exitCode ?? 0) - 128;
  if (report === "" || end.reason !== "exited") return end;
  const entry = Object.entries(constants.signals).find(([, value]) => value === number);
  return entry === undefined ? end : { ...end, exitCode: null, signal: entry[0] };
}
