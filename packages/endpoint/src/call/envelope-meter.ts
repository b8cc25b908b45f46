/** One byte of flags and four of length. */
const PREFIX_BYTES = 5;

/** Follows the envelopes of a stream without keeping their bytes: how much of a message has come that is not whole? */
export class EnvelopeMeter {
  #prefixBytes = 0;
  #length = 0;
  #missingBytes = 0;

  /** Bytes of the message that has begun and is not whole, its envelope included; 0 between two messages. */
  get unfinishedBytes(): number {
    if (this.#missingBytes > 0) return PREFIX_BYTES + this.#length - this.#missingBytes;
    return this.#prefixBytes;
  }

  add(chunk: Uint8Array): void {
    let offset = 0;
    while (offset < chunk.byteLength) {
      if (this.#missingBytes > 0) {
        const step = Math.min(this.#missingBytes, chunk.byteLength - offset);
        this.#missingBytes -= step;
        offset += step;
        continue;
      }
      if (this.#prefixBytes === 0) this.#length = 0;
      // Multiplication: a shift would make lengths of 2 GiB and more negative.
      if (this.#prefixBytes > 0) this.#length = this.#length * 256 + (chunk[offset] ?? 0);
      this.#prefixBytes++;
      offset++;
      if (this.#prefixBytes === PREFIX_BYTES) {
        this.#missingBytes = this.#length;
        this.#prefixBytes = 0;
      }
    }
  }
}
