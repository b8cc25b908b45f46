import type { Clock } from "@trivium/core";
import type { Helper } from "./helper.ts";
import { HelperInput } from "./helper-input.ts";
import type { ProgramEnd, ProgramInput, RunningProgram } from "./program-runner.ts";
import type { SpawnFailure } from "./supervisor/message.ts";

export interface ProgramRunDeps {
  readonly programId: number;
  readonly helper: Helper;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly hasInput: boolean;
}

/** The server's side of one program. */
export class SupervisedProgramRun implements RunningProgram {
  readonly input: ProgramInput | undefined;
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly ended: Promise<ProgramEnd>;
  readonly #deps: ProgramRunDeps;
  readonly #startedAt: number;
  readonly #started = Promise.withResolvers<SpawnFailure | undefined>();
  readonly #end = Promise.withResolvers<ProgramEnd>();
  readonly #input: HelperInput | undefined;
  readonly #chunks: Uint8Array[] = [];
  readonly #onAbort: () => void;
  #isComplete = false;
  #isDropping = false;
  #wake: (() => void) | undefined;

  constructor(deps: ProgramRunDeps) {
    this.#deps = deps;
    this.#startedAt = deps.clock.monotonic();
    this.ended = this.#end.promise;
    this.stdout = this.#read();
    this.#input = deps.hasInput ? new HelperInput(deps.helper, deps.programId) : undefined;
    this.input = this.#input;
    this.#onAbort = () => void this.#stop("cancelled");
    deps.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Resolves when it runs, or with the reason why not. */
  get started(): Promise<SpawnFailure | undefined> {
    return this.#started.promise;
  }

  stop(): Promise<ProgramEnd> {
    return this.#stop("stopped");
  }

  onStarted(failure: SpawnFailure | undefined): void {
    this.#started.resolve(failure);
    if (failure !== undefined) this.onEnded(this.#endOf("helper-lost"));
  }

  onData(bytes: Uint8Array): void {
    if (this.#isDropping) {
      this.#credit(bytes.length);
      return;
    }
    this.#chunks.push(bytes);
    this.#wake?.();
  }

  /** The program, or the pipe to it, has taken bytes of its input. */
  onInputTaken(bytes: number): void {
    this.#input?.onTaken(bytes);
  }

  onEnded(end: ProgramEnd): void {
    this.#input?.close();
    this.#deps.signal?.removeEventListener("abort", this.#onAbort);
    this.#isComplete = true;
    this.#end.resolve(end);
    this.#wake?.();
  }

  /** The helper is gone, and the program with it. */
  lose(): void {
    this.#started.resolve({ kind: "refused", message: "the process that runs programs is gone" });
    this.onEnded(this.#endOf("helper-lost"));
  }

  #stop(reason: "stopped" | "cancelled"): Promise<ProgramEnd> {
    if (!this.#isComplete) {
      this.#isDropping = true;
      for (const chunk of this.#chunks.splice(0)) this.#credit(chunk.length);
      this.#deps.helper.send({ type: "program-stop", programId: this.#deps.programId, reason });
    }
    return this.ended;
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          // Before the yield: the reader may take its time, and one chunk more fits into the window.
          this.#credit(chunk.length);
          yield chunk;
        } else if (this.#isComplete) return;
        else await new Promise<void>((resolve) => void (this.#wake = resolve));
      }
    } finally {
      void this.#stop("stopped");
    }
  }

  #credit(bytes: number): void {
    this.#deps.helper.send({ type: "program-credit", programId: this.#deps.programId, bytes });
  }

  #endOf(reason: ProgramEnd["reason"]): ProgramEnd {
    const durationMs = Math.round(this.#deps.clock.monotonic() - this.#startedAt);
    return { reason, exitCode: null, signal: null, stderr: new Uint8Array(), durationMs };
  }
}
