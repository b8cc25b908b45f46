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
  /** Existing folder, absolute. */
  readonly workingDirectory: string;
  /** The complete environment of the command; nothing of the server's own is added except the runner's markers. */
  readonly env: Readonly<Record<string, string>>;
  /** Text for standard input. Absent: no input, reads see the end at once. */
  readonly stdin?: string | undefined;
  /** Run time after which the tree is ended. Absent: no limit. */
  readonly timeoutMs?: number | undefined;
  /** File that gets the whole output. Its folder exists. */
  readonly logPath: string;
  /** Bytes of the beginning and of the end of the output kept in memory. */
  readonly headBytes: number;
  readonly tailBytes: number;
  /** Left-over children of a normal end stay with the runner until this group is ended with {@link Command.release}. */
  readonly keepsLeftovers?: boolean | undefined;
}

export type CommandStatus = "queued" | "running" | "ended";

/** A started command. */
export interface Command {
  readonly commandId: string;
  /** Process id of the shell; undefined while queued. */
  readonly pid: number | undefined;
  readonly status: CommandStatus;
  /** Clock times in milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** Bytes of output announced so far; so many can be read back. */
  readonly outputBytes: number;
  /** Resolves once, when the shell has ended and its output is in, or the tree was killed. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Output kept in memory so far. */
  output(): CommandOutput;
  /** Reads back the log from a byte offset, while it grows and after the end. At most `maxBytes`. */
  readLog(offset: number, maxBytes: number): Promise<Uint8Array>;
  /**
   * Live output from this moment on. A slow reader misses chunks and is told by the byte offset of the next;
   * it never slows the command. Ends with the command.
   */
  chunks(signal: AbortSignal): AsyncIterable<{ offset: number; bytes: Uint8Array }>;
  /** Ends the whole tree. `graceMs` is the time between SIGTERM and SIGKILL; 0 kills at once. Resolves with the proof. */
  kill(reason: "cancelled" | "killed" | "session-ended", graceMs: number): Promise<CommandEnd>;
  /** Lets left-over children, log descriptor and supervisor go. Kills what is left. */
  release(): Promise<void>;
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
  readonly reason: "exited" | "timed-out" | "cancelled" | "killed" | "session-ended" | "supervisor-lost" | "spawn-failed";
  /** Exit code of the shell; null when a signal ended it or it never ran. */
  readonly exitCode: number | null;
  /** Name such as SIGKILL; null after an ordinary exit. */
  readonly signal: string | null;
  readonly durationMs: number;
  /** Processes that are still there although they should not be: other users', or stuck in the kernel. */
  readonly survivors: readonly ProcessNote[];
  /** Processes a normal end left running on purpose, still owned by the runner. */
  readonly leftovers: readonly ProcessNote[];
  /** Set when the log could not be written completely (disk full): offset of the first missing byte. */
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
  readonly why: string | undefined;
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

export interface CommandRunnerStats {
  readonly live: number;
  readonly queued: number;
  readonly lingering: number;
  readonly supervisors: number;
}
