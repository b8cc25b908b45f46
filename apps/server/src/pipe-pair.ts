import { Duplex, type Readable, type Writable } from "node:stream";

/** Two pipes as one stream. It owns them: they are closed with it, and it is closed when either breaks. */
export class PipePair extends Duplex {
  readonly #input: Readable;
  readonly #output: Writable;

  constructor(input: Readable, output: Writable) {
    super({ allowHalfOpen: false });
    this.#input = input;
    this.#output = output;
    input.on("data", (chunk: Uint8Array) => {
      if (!this.push(chunk)) input.pause();
    });
    input.once("end", () => this.push(null));
    for (const pipe of [input, output]) {
      pipe.on("error", (error) => this.destroy(error));
      pipe.once("close", () => this.destroy());
    }
  }

  override _read(): void {
    this.#input.resume();
  }

  override _write(
    chunk: Uint8Array,
    _encoding: BufferEncoding,
    onWritten: (error?: Error | null) => void,
  ): void {
    this.#output.write(chunk, onWritten);
  }

  override _final(onEnded: () => void): void {
    this.#output.end(onEnded);
  }

  override _destroy(error: Error | null, onDestroyed: (error: Error | null) => void): void {
    this.#input.destroy();
    this.#output.destroy();
    onDestroyed(error);
  }
}
