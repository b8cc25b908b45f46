/**
 * Port to the process runner: commands with an owner, a deadline, a kept output and an end that is proved.
 *
 * The server process never spawns a command itself; an implementation does it from supervisor processes.
 */
export interface CommandRunner extends AsyncDisposable {
  /**
   * Starts a command. Resolves when it runs (or waits for a free place, see {@link CommandStatus}).
   *
   * @throws {@link TriviumError} `invalidInput` for an unusable folder, shell or argument, `unavailable` when closing.
   */
  start(spec: CommandSpec): Promise<Command>;
  /** Which containment layers are active, for `doctor` and the start log. */
  containment(): Promise<Containment>;
  /** Live commands and what they left behind, for metrics. */
  stats(): CommandRunnerStats;
}

/** What to run. */
export interface CommandSpec {
  /** Program and arguments. A shell command is `["bash", "-c", text]`; the runner takes care of texts that exceed a kernel limit. */
  readonly argv: readonly [string, ...string[]];
  /**
   * Name of the program of `argv` when that only wraps the command and would end it at once if it were asked to end
   * itself: its processes get no SIGTERM. They end with the command, or with SIGKILL.
   */
  readonly wrapper?: string | undefined;
  /** Existing folder, absolute. */
  readonly workingDirectory: string;
  /** The complete environment of the command; nothing of the server's own is added except the runner's markers. */
  readonly env: Readonly<Record<string, string>>;
  /** Text for standard input. Absent: no input, reads see the end at once. */
  readonly stdin?: string | undefined;
  /** Run time after which the tree is ended. Absent: no limit. Waiting for a free place does not count by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * `timeoutMs` begins with the start of the command, whether it waits for a free place or runs. Over while it waits:
   * it ends with `timed-out` and has never run.
   */
  readonly countsWaiting?: boolean | undefined;
  /** Time between SIGTERM and SIGKILL when `timeoutMs` is over. Default 1000. */
  readonly timeoutGraceMs?: number | undefined;
  /** Output beyond this ends the command with `output-limit`. Default 5 GiB. */
  readonly maxOutputBytes?: number | undefined;
  /** File that gets the whole output; an existing one is emptied. Its folder exists. Cut to 64 MiB at the end. */
  readonly logPath: string;
  /** Set: standard error is kept apart, with this log and {@link Command.stderr}. Default: one output in order. */
  readonly stderrLogPath?: string | undefined;
  /** Bytes of the beginning and of the end of the output kept in memory. */
  readonly headBytes: number;
  readonly tailBytes: number;
  /**
   * Children that a normal end leaves behind go on, listed in the end and drained into the log, until
   * {@link Command.release}. Default: they are killed.
   */
  readonly keepsLeftovers?: boolean | undefined;
}

export type CommandStatus = "queued" | "running" | "ended";

/** What a command writes, kept in a log. */
export interface OutputStream {
  /** Bytes announced so far; so many can be read back. */
  readonly outputBytes: number;
  /** Beginning and end of the output so far; after the end those of the result. */
  output(): Promise<CommandOutput>;
  /** Reads back the log from a byte offset, while it grows and after the end. At most `maxBytes`. */
  readLog(offset: number, maxBytes: number): Promise<Uint8Array>;
  /**
   * The output from its first byte as it comes, read back from the log, until the command has ended or `signal`
   * aborts. A slow reader misses nothing and never slows the command. Stops early where the log is incomplete.
   */
  chunks(signal: AbortSignal): AsyncIterable<OutputChunk>;
}

/** A started command. Its own output is standard output, with standard error in it unless that is kept apart. */
export interface Command extends OutputStream {
  readonly commandId: string;
  /** Process id of the shell; undefined while queued. */
  readonly pid: number | undefined;
  readonly status: CommandStatus;
  /** Clock times in milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** Standard error, when it is kept apart. */
  readonly stderr: OutputStream | undefined;
  /** Resolves once, when the shell has ended and its output is in, or the tree was killed. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Resolves once, when nothing of the command is left any more. Never rejects. */
  readonly vacated: Promise<void>;
  /**
   * Ends the whole tree, also what an ended command left behind. `graceMs` is the time between SIGTERM and SIGKILL;
   * 0 kills at once. Resolves when nothing is left, or with the survivors.
   */
  kill(reason: "cancelled" | "killed" | "session-ended", graceMs: number): Promise<CommandEnd>;
  /** Lets left-over children, log descriptor and supervisor go. Kills what is left. */
  release(): Promise<void>;
}

/** A piece of output. */
export interface OutputChunk {
  /** Position of the first byte in the whole output. */
  readonly offset: number;
  /** At most 64 KiB. */
  readonly bytes: Uint8Array;
}

/** Head and tail of the output. */
export interface CommandOutput {
  readonly head: Uint8Array;
  /** Empty while everything fits into the head. */
  readonly tail: Uint8Array;
  /** Bytes between head and tail that are only in the log. */
  readonly omittedBytes: number;
  readonly totalBytes: number;
}

/** How a command ended. */
export interface CommandEnd {
  readonly reason:
    | "exited"
    | "timed-out"
    | "output-limit"
    | "cancelled"
    | "killed"
    | "session-ended"
    | "supervisor-lost"
    | "spawn-failed";
  /** Exit code of the shell; null when a signal ended it or it never ran. */
  readonly exitCode: number | null;
  /** Name such as SIGKILL; null after an ordinary exit. */
  readonly signal: string | null;
  readonly durationMs: number;
  /** Processes that are still there although they should not be: other users', or stuck in the kernel. */
  readonly survivors: readonly ProcessNote[];
  /** Processes a normal end left running on purpose, still owned by the runner. */
  readonly leftovers: readonly ProcessNote[];
  /** Set when the log is not complete (disk full, or beyond its limit): offset of the first missing byte. */
  readonly logIncompleteAt: number | undefined;
  /** Why spawning failed; undefined otherwise. */
  readonly spawnError: string | undefined;
}

/** One process in a report. */
export interface ProcessNote {
  readonly pid: number;
  /** At most 200 bytes. */
  readonly commandLine: string;
  /** `EPERM`, `uninterruptible` or `unattributed` for survivors. */
  readonly why?: string | undefined;
}

/** Active containment layers. */
export interface Containment {
  readonly subreaper: boolean;
  readonly cgroup: boolean;
  readonly bubblewrap: boolean;
  readonly landlock: boolean;
  /** One line for people. */
  readonly summary: string;
}

/** Counts at one moment. */
export interface CommandRunnerStats {
  /** Commands that hold a place. */
  readonly live: number;
  /** Commands that wait for one. */
  readonly queued: number;
  /** Ended commands of which something is still running. */
  readonly lingering: number;
  /** Helper processes that run, linger or wait for commands. */
  readonly supervisors: number;
}
