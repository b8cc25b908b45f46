import { TriviumError } from "@trivium/core";

/** Larger messages than any answer that is of use; beyond it the stream is not worth reading. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

const LINE_FEED = 10;

/** Joins pieces of a stream to lines. */
export class LineSplitter {
  #pieces: Uint8Array[] = [];
  #length = 0;

  /**
   * Complete lines, without their ends.
   *
   * @throws {@link TriviumError} `outOfRange` for a line above 32 MiB.
   */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#hold(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#hold(chunk.subarray(start));
    return lines;
  }

  #hold(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#length += piece.length;
    if (this.#length > MAX_LINE_BYTES) {
      throw new TriviumError("outOfRange", `the server sent a message of more than ${MAX_LINE_BYTES} bytes`);
    }
    this.#pieces.push(piece);
  }

  #take(): string {
    const line = Buffer.concat(this.#pieces).toString();
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}
