/** A helper program to run to its end. */
export interface ProgramRequest {
  /** Name that is looked up in the search path, and arguments. */
  readonly argv: readonly [string, ...string[]];
  /** Existing folder, absolute. */
  readonly workingDirectory: string;
  /** Added to the minimal environment of children, which holds no variable of git. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Absolute folders that no program may come from: what lies in them, and relative folders, are taken off the search
   * path, which the program gets like that too.
   */
  readonly distrustedFolders?: readonly string[];
  /** Standard input. Absent: empty. */
  readonly input?: Uint8Array;
  readonly timeoutMs: number;
  /** More standard output than that is a failure. */
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a program ended that ended by itself. */
export interface ProgramResult {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  /** As UTF-8; beginning or end when it is long. */
  readonly stderr: string;
}

/**
 * Port for helper programs of the runtime itself, such as git. The program and all it started are gone when the promise
 * settles.
 *
 * @throws TriviumError `notFound` when there is no such program, `unavailable` when it ran out of time, was killed or
 * could not be started, `resourceExhausted` for too much output; the reason of the signal
 */
export type RunProgram = (request: ProgramRequest) => Promise<ProgramResult>;
