import { closeSync } from "node:fs";
import type { RunMessage, StreamReport } from "./message.ts";
import type { NativeCalls } from "./native-calls.ts";
import { type OutputPipe, openOutputPipe, type PipeMark } from "./output-pipe.ts";
import { OutputTee } from "./output-tee.ts";

export interface OutputTools {
  readonly native: NativeCalls | undefined;
  readonly folder: string;
  /** Called after bytes are in a log, with the bytes of all outputs together. */
  onOutput(totalBytes: number): void;
}

/** What a command writes: one output, or two when standard error has a log of its own. */
export class CommandOutputs {
  readonly #pipes: OutputPipe[] = [];
  readonly #tees: OutputTee[] = [];
  readonly #keepsMarks: boolean;

  constructor(spec: RunMessage, tools: OutputTools) {
    // Without system calls the pipes are among the marks that members are found by.
    this.#keepsMarks = tools.native === undefined;
    const paths = spec.stderrLogPath === undefined ? [spec.logPath] : [spec.logPath, spec.stderrLogPath];
    for (const logPath of paths) {
      const pipe = openOutputPipe(tools.folder, tools.native);
      this.#pipes.push(pipe);
      const onOutput = (): void => tools.onOutput(this.totalBytes);
      const { headBytes, tailBytes } = spec;
      this.#tees.push(new OutputTee(pipe.reader, { logPath, headBytes, tailBytes, onOutput }));
    }
  }

  /** Descriptors for standard output and standard error of the command. */
  get descriptors(): [number, number] {
    const [first, second = first] = this.#pipes;
    return [first?.writeDescriptor ?? 0, second?.writeDescriptor ?? 0];
  }

  get marks(): readonly PipeMark[] {
    return this.#pipes.map((pipe) => pipe.mark);
  }

  get totalBytes(): number {
    return this.#tees.reduce((sum, tee) => sum + tee.totalBytes, 0);
  }

  /** Bytes of each output. */
  get totals(): number[] {
    return this.#tees.map((tee) => tee.totalBytes);
  }

  /** Resolves when every writer is gone. */
  get ended(): Promise<unknown> {
    return Promise.all(this.#tees.map((tee) => tee.ended));
  }

  /** The command has its descriptors, or will never have them. */
  closeWriters(): void {
    for (const { writeDescriptor, mark } of this.#pipes) {
      closeSync(writeDescriptor);
      if (!this.#keepsMarks) closeSync(mark.descriptor);
    }
  }

  /** See {@link OutputTee.settle}. */
  async settle(): Promise<void> {
    await Promise.all(this.#tees.map((tee) => tee.settle()));
  }

  /** From here on each log holds at most so many bytes. */
  limitLogs(maxLogBytes: number): void {
    for (const tee of this.#tees) tee.limitLog(maxLogBytes);
  }

  /** What is kept of each output, and the bytes one after the other. */
  report(): { streams: StreamReport[]; bytes: Uint8Array } {
    const pieces: Uint8Array[] = [];
    const streams = this.#tees.map((tee) => {
      const { head, tail } = tee.kept();
      pieces.push(head, tail);
      const { totalBytes, logIncompleteAt } = tee;
      return { totalBytes, logIncompleteAt, headLength: head.length, tailLength: tail.length };
    });
    return { streams, bytes: Buffer.concat(pieces) };
  }

  /** Nobody is looked for by these pipes any more. */
  dropMarks(): void {
    if (!this.#keepsMarks) return;
    for (const { mark } of this.#pipes) closeSync(mark.descriptor);
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await Promise.all(this.#tees.map((tee) => tee.close()));
  }
}
