import type { Helper } from "./helper.ts";
import type { ProgramInput } from "./program-runner.ts";

/** Bytes on their way to a program that has not taken them. */
const WINDOW_BYTES = 1024 * 1024;
/** Larger pieces would keep the channel from carrying anything else. */
const PIECE_BYTES = 256 * 1024;

/** Standard input of a program that a helper process runs. */
export class HelperInput implements ProgramInput {
  readonly #helper: Helper;
  readonly #programId: number;
  #queue: Promise<void> = Promise.resolve();
  #untakenBytes = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(helper: Helper, programId: number) {
    this.#helper = helper;
    this.#programId = programId;
  }

  write(bytes: Uint8Array): Promise<void> {
    this.#queue = this.#queue.then(() => this.#send(bytes));
    return this.#queue;
  }

  end(): void {
    this.#queue = this.#queue.then(() => {
      if (!this.#isClosed) this.#helper.send({ type: "program-input-end", programId: this.#programId });
    });
  }

  /** The helper has passed bytes on. */
  onTaken(bytes: number): void {
    this.#untakenBytes -= bytes;
    this.#wake?.();
  }

  /** The program has ended: nobody waits any longer. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length && !this.#isClosed; start += PIECE_BYTES) {
      const piece = bytes.subarray(start, start + PIECE_BYTES);
      this.#untakenBytes += piece.length;
      this.#helper.send({ type: "program-input", programId: this.#programId }, piece);
      while (this.#untakenBytes >= WINDOW_BYTES && !this.#isClosed) {
        await new Promise<void>((resolve) => void (this.#wake = resolve));
      }
    }
  }
}
