import type { ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import type { FromHelper, ProgramMessage } from "./message.ts";
import type { NativeCalls } from "./native-calls.ts";
import { type OutputPipe, openOutputPipe } from "./output-pipe.ts";
import { trySignal } from "./process-tree.ts";
import { isSpawnFailure, spawnChild } from "./spawn-child.ts";

export interface ProgramTools {
  readonly native: NativeCalls | undefined;
  readonly folder: string;
  send(message: FromHelper, bytes?: Uint8Array): void;
}

type EndReason = "exited" | "timed-out" | "stopped" | "cancelled";

/** Bytes that may be under way to the server before it has taken them. */
const WINDOW_BYTES = 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** A child that holds the pipe must not keep the end back. */
const DRAIN_MS = 2000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One program whose standard output goes to the server as it comes. */
export class SupervisedProgram {
  readonly #spec: ProgramMessage;
  readonly #tools: ProgramTools;
  readonly #startedAt = performance.now();
  #child: ChildProcess | undefined;
  #output: OutputPipe | undefined;
  #unreadBytes = 0;
  #reason: EndReason = "exited";

  private constructor(spec: ProgramMessage, tools: ProgramTools) {
    this.#spec = spec;
    this.#tools = tools;
  }

  /** Starts a program; `onEnd` is called after its last message. */
  static start(spec: ProgramMessage, tools: ProgramTools, onEnd: () => void): SupervisedProgram {
    const program = new SupervisedProgram(spec, tools);
    program
      .#run()
      .catch((error: unknown) => {
        const failure = {
          kind: "refused",
          message: `the program could not be started: ${String(error)}`,
        } as const;
        tools.send({ type: "program-failed", programId: spec.programId, failure });
      })
      .finally(onEnd);
    return program;
  }

  /** The server has taken so many bytes. */
  credit(bytes: number): void {
    this.#unreadBytes -= bytes;
    if (this.#unreadBytes < WINDOW_BYTES) this.#output?.reader.resume();
  }

  /** Kills the program's group and drops the rest of its output. */
  stop(reason: EndReason): void {
    if (this.#reason === "exited") this.#reason = reason;
    if (this.#child?.pid !== undefined) trySignal(-this.#child.pid, "SIGKILL");
    this.#output?.reader.destroy();
  }

  async #run(): Promise<void> {
    const { native, folder } = this.#tools;
    const output = openOutputPipe(folder, native);
    const errors = openOutputPipe(folder, native);
    const child = await spawnChild(this.#spec, ["ignore", output.writeDescriptor, errors.writeDescriptor]);
    for (const { writeDescriptor, mark } of [output, errors]) {
      closeSync(writeDescriptor);
      closeSync(mark.descriptor);
    }
    const { programId, timeoutMs } = this.#spec;
    if (isSpawnFailure(child)) {
      output.reader.destroy();
      errors.reader.destroy();
      this.#tools.send({ type: "program-failed", programId, failure: child });
      return;
    }
    this.#child = child;
    this.#output = output;
    const exit = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.once("exit", (exitCode, signal) => resolve([exitCode, signal]));
    });
    this.#tools.send({ type: "program-started", programId });
    const outputEnd = this.#forward(output);
    const errorText = collect(errors);
    // The wish to stop may have come in one piece with the start.
    if (this.#reason !== "exited") this.stop(this.#reason);
    const deadline =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => this.stop("timed-out"), Math.min(timeoutMs, MAX_TIMER_MS));
    const [exitCode, signal] = await exit;
    clearTimeout(deadline);
    // From here on the number of the group may be another's.
    this.#child = undefined;
    // What is left of the group has no business any more. Output that the server has yet to take is waited for.
    const drain = setTimeout(() => errors.reader.destroy(), DRAIN_MS);
    if (trySignal(-(child.pid ?? 0), "SIGKILL")) output.reader.resume();
    await outputEnd;
    const stderr = await errorText;
    clearTimeout(drain);
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#tools.send(
      { type: "program-ended", programId, reason: this.#reason, exitCode, signal, durationMs },
      stderr,
    );
  }

  #forward({ reader }: OutputPipe): Promise<void> {
    const { programId } = this.#spec;
    reader.on("data", (chunk: Buffer) => {
      this.#tools.send({ type: "program-data", programId }, chunk);
      this.#unreadBytes += chunk.length;
      if (this.#unreadBytes >= WINDOW_BYTES) reader.pause();
    });
    return closed(reader);
  }
}

/** Reads everything and keeps the beginning. */
async function collect({ reader }: OutputPipe): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  reader.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, MAX_ERROR_BYTES - length);
    length += kept.length;
    chunks.push(kept);
  });
  await closed(reader);
  return Buffer.concat(chunks);
}

function closed(reader: OutputPipe["reader"]): Promise<void> {
  return new Promise((resolve) => {
    reader.on("error", () => reader.destroy());
    reader.on("close", () => resolve());
  });
}
