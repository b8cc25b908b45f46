/** Keeps the last bytes of a stream. Grows with the stream up to its capacity, then it is a ring. */
export class TailBuffer {
  readonly #capacityBytes: number;
  #ring: Buffer = Buffer.alloc(0);
  #position = 0;
  #length = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  push(chunk: Buffer): void {
    if (this.#capacityBytes === 0) return;
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#capacityBytes));
    this.#grow(this.#length + kept.length);
    const copied = kept.copy(this.#ring, this.#position);
    kept.copy(this.#ring, 0, copied);
    this.#position = (this.#position + kept.length) % this.#ring.length;
    this.#length = Math.min(this.#ring.length, this.#length + kept.length);
  }

  /** A copy, oldest byte first. */
  toBytes(): Uint8Array {
    if (this.#length < this.#ring.length) return Uint8Array.from(this.#ring.subarray(0, this.#length));
    return Buffer.concat([this.#ring.subarray(this.#position), this.#ring.subarray(0, this.#position)]);
  }

  /** While it is not full its bytes begin at 0, so they can be copied as they are. */
  #grow(neededBytes: number): void {
    if (this.#ring.length >= Math.min(neededBytes, this.#capacityBytes)) return;
    const bytes = this.toBytes();
    this.#ring = Buffer.alloc(Math.min(this.#capacityBytes, Math.max(neededBytes, 2 * this.#ring.length)));
    this.#ring.set(bytes);
    this.#position = this.#length % this.#ring.length;
  }
}
