/** Longer messages are left out: one has to be in memory as a whole. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Cuts a byte stream into lines. */
export class LineSplitter {
  readonly #pieces: Uint8Array[] = [];
  #pendingBytes = 0;
  #skipsLine = false;
  /** Lines that were left out because of their length. */
  skippedCount = 0;

  /** Complete lines that end in this chunk, without their line feeds. */
  *split(chunk: Uint8Array): Generator<string> {
    let from = 0;
    for (let feed = chunk.indexOf(10); feed !== -1; feed = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, feed));
      from = feed + 1;
      const isSkipped = this.#skipsLine;
      const line = isSkipped ? "" : Buffer.concat(this.#pieces).toString("utf8");
      this.#reset();
      if (isSkipped) this.skippedCount += 1;
      else yield line;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Uint8Array): void {
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes > MAX_MESSAGE_BYTES) {
      this.#pieces.length = 0;
      this.#skipsLine = true;
    } else if (!this.#skipsLine && piece.length > 0) {
      this.#pieces.push(piece);
    }
  }

  #reset(): void {
    this.#pieces.length = 0;
    this.#pendingBytes = 0;
    this.#skipsLine = false;
  }
}
