import type { ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import { MarkedTree } from "./marked-tree.ts";
import type { FromHelper, ProgramMessage } from "./message.ts";
import type { NativeCalls } from "./native-calls.ts";
import { type OutputPipe, openOutputPipe } from "./output-pipe.ts";
import { readProcessStat } from "./process-table.ts";
import { trySignal } from "./process-tree.ts";
import { isSpawnFailure, spawnChild } from "./spawn-child.ts";
import { TailBuffer } from "./tail-buffer.ts";

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
const KILL_LIMIT_MS = 2000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One program whose standard output goes to the server as it comes. */
export class SupervisedProgram {
  readonly #spec: ProgramMessage;
  readonly #tools: ProgramTools;
  readonly #startedAt = performance.now();
  #child: ChildProcess | undefined;
  /** Of a program with input: it may have started what is not in its group. */
  #tree: MarkedTree | undefined;
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

  /** Passes bytes on to the program. */
  write(bytes: Uint8Array): void {
    const { programId } = this.#spec;
    // Also when it does not read any more: the writer must not wait for ever.
    const onTaken = (): void =>
      this.#tools.send({ type: "program-input-taken", programId, bytes: bytes.length });
    const stdin = this.#child?.stdin;
    if (stdin?.writable === true) stdin.write(bytes, onTaken);
    else onTaken();
  }

  /** Ends the program's input. */
  endInput(): void {
    this.#child?.stdin?.end();
  }

  /** Kills the program's group, or all of its tree, and drops the rest of its output. */
  stop(reason: EndReason): void {
    if (this.#reason === "exited") this.#reason = reason;
    if (this.#child?.pid !== undefined) trySignal(-this.#child.pid, "SIGKILL");
    this.#tree?.killAll(KILL_LIMIT_MS);
    this.#output?.reader.destroy();
  }

  async #run(): Promise<void> {
    const { native, folder } = this.#tools;
    const output = openOutputPipe(folder, native);
    const errors = openOutputPipe(folder, native);
    const { programId, timeoutMs, treeMark } = this.#spec;
    const child = await spawnChild(this.#spec, [
      treeMark === undefined ? "ignore" : "pipe",
      output.writeDescriptor,
      errors.writeDescriptor,
    ]);
    for (const { writeDescriptor, mark } of [output, errors]) {
      closeSync(writeDescriptor);
      closeSync(mark.descriptor);
    }
    if (isSpawnFailure(child)) {
      output.reader.destroy();
      errors.reader.destroy();
      this.#tools.send({ type: "program-failed", programId, failure: child });
      return;
    }
    this.#child = child;
    this.#output = output;
    if (treeMark !== undefined) this.#tree = treeOf(child, treeMark);
    // A program that does not read its input ends the pipe; that is its own business.
    child.stdin?.on("error", () => {});
    const exit = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.once("exit", (exitCode, signal) => {
        this.#tree?.noteLeaderEnd();
        resolve([exitCode, signal]);
      });
    });
    this.#tools.send({ type: "program-started", programId });
    const outputEnd = this.#forward(output);
    const errorText = treeMark === undefined ? collectHead(errors) : collectTail(errors);
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
    this.#tree?.killAll(KILL_LIMIT_MS);
    this.#tree = undefined;
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

function treeOf(child: ChildProcess, environmentEntry: string): MarkedTree {
  const pid = child.pid ?? 0;
  return new MarkedTree({
    environmentEntry,
    shell: { pid, startTicks: readProcessStat(pid)?.startTicks ?? 0 },
  });
}

/** Reads everything and keeps the end: of a program that runs long, the last words matter. */
async function collectTail({ reader }: OutputPipe): Promise<Uint8Array> {
  const tail = new TailBuffer(MAX_ERROR_BYTES);
  reader.on("data", (chunk: Buffer) => tail.push(chunk));
  await closed(reader);
  return tail.toBytes();
}

/** Reads everything and keeps the beginning. */
async function collectHead({ reader }: OutputPipe): Promise<Buffer> {
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
