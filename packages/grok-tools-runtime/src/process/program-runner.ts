/**
 * Port to helper programs whose standard output is read as it comes: short ones such as ripgrep, and servers that one
 * talks with over standard input and output.
 *
 * Cheaper than a {@link CommandRunner}: no log, no kept head and tail; the end is the end of the program's group.
 * The program is started by a helper process, never by the server.
 */
export interface ProgramRunner {
  /**
   * Starts a program, its standard output and its standard error apart.
   *
   * @throws {@link TriviumError} `notFound` for a missing program or folder, `invalidInput` for arguments the kernel
   * refuses, `unavailable` when the runner is closing or its helper is gone; the reason of `signal` when it aborts
   * before the program runs.
   */
  run(spec: ProgramSpec): Promise<RunningProgram>;
}

/** What to run. */
export interface ProgramSpec {
  /** Absolute path of the program, or a name that is looked up in the `PATH` of `env`, and its arguments. */
  readonly argv: readonly [string, ...string[]];
  /** Existing folder, absolute. */
  readonly workingDirectory: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Run time after which the program's group is killed. Absent: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Kills the program's group when it aborts; the end then says `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * `pipe`: a program one talks with, see {@link RunningProgram.input}. It ends with everything it has started, other
   * groups and sessions included, and of its standard error the last 64 KiB are kept. Default: no input.
   */
  readonly input?: "none" | "pipe" | undefined;
}

/** Standard input of a program one talks with. */
export interface ProgramInput {
  /**
   * Hands over bytes, in order. Resolves when the program may be given more: a program that reads slowly slows its
   * writer. What is written after the end is dropped. Never rejects.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** The program reads an end of file after what was written. */
  end(): void;
}

/** A started program. Its owner reads `stdout` to the end, leaves the loop, or calls `stop`. */
export interface RunningProgram {
  /** Present when it was asked for. */
  readonly input?: ProgramInput | undefined;
  /**
   * Standard output, in order, to the end. A slow reader slows the program. One reader; leaving the loop early
   * stops the program. Never throws: how the program ended is told by `ended`.
   */
  readonly stdout: AsyncIterable<Uint8Array>;
  /** Resolves once, when the program has ended and its output was delivered or dropped. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Kills the program's group and drops output that was not read. Resolves with the end. */
  stop(): Promise<ProgramEnd>;
}

/** How a program ended. */
export interface ProgramEnd {
  readonly reason: "exited" | "timed-out" | "cancelled" | "stopped" | "helper-lost";
  /** Exit code; null when a signal ended it. */
  readonly exitCode: number | null;
  /** Name such as SIGKILL; null after an ordinary exit. */
  readonly signal: string | null;
  /** The first 64 KiB of standard error; of a program with input the last. */
  readonly stderr: Uint8Array;
  readonly durationMs: number;
}
