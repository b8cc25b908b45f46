import type { Readable, Writable } from "node:stream";
import { readFrames } from "./frame.ts";
import type { Lane } from "./lane.ts";

/** Frames over a pair of pipes. Nothing but frames may be written to `output`. */
export class StdioLane implements Lane {
  readonly payloads: AsyncIterable<Uint8Array>;
  readonly #input: Readable;
  readonly #output: Writable;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    this.payloads = readFrames(input);
    // Every write reports its own error; this listener keeps it from being an uncaught one.
    output.on("error", () => {});
    input.on("error", () => {});
  }

  write(frame: Buffer, onWritten: (error: Error | undefined) => void): void {
    this.#output.write(frame, (error) => onWritten(error ?? undefined));
  }

  close(): Promise<void> {
    this.#input.destroy();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#output.once("close", resolve);
    this.#output.end(resolve);
    if (this.#output.destroyed) resolve();
    return promise;
  }

  destroy(): void {
    this.#input.destroy();
    this.#output.destroy();
  }
}
