/** Keeps the last bytes of a stream in a ring of fixed size. */
export class TailBuffer {
  readonly #ring: Buffer;
  #position = 0;
  #length = 0;

  constructor(capacityBytes: number) {
    this.#ring = Buffer.alloc(capacityBytes);
  }

  push(chunk: Buffer): void {
    const capacity = this.#ring.length;
    if (capacity === 0) return;
    const kept = chunk.subarray(Math.max(0, chunk.length - capacity));
    const copied = kept.copy(this.#ring, this.#position);
    kept.copy(this.#ring, 0, copied);
    this.#position = (this.#position + kept.length) % capacity;
    this.#length = Math.min(capacity, this.#length + kept.length);
  }

  /** A copy, oldest byte first. */
  toBytes(): Uint8Array {
    if (this.#length < this.#ring.length) return Uint8Array.from(this.#ring.subarray(0, this.#length));
    return Buffer.concat([this.#ring.subarray(this.#position), this.#ring.subarray(0, this.#position)]);
  }
}
