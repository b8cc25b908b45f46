/** Bytes of the text that are looked at to learn which ones are rare. */
const SAMPLE_BYTES = 4096;
/** Looking at a place costs as much as passing over so many bytes, and over one more for each that is compared. */
const BYTES_PER_CANDIDATE = 256;
/** Bytes in advance, so that a few places close together do not end the search. */
const FREE_BYTES = 64 * BYTES_PER_CANDIDATE;

/**
 * Looks for texts by their rarest byte. Passing over bytes that differ from one is ten times as fast as the general
 * search, which goes slowly through texts that share most of their characters with what is looked for: all of them.
 */
export class RareByteSearch {
  readonly #bytes: Buffer;
  readonly #counts = new Uint32Array(256);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    // Odd, so that it does not meet the same column of lines of 64 characters again and again.
    const step = Math.floor(bytes.length / SAMPLE_BYTES) | 1;
    for (let at = 0; at < bytes.length; at += step) {
      const byte = bytes[at] ?? 0;
      this.#counts[byte] = (this.#counts[byte] ?? 0) + 1;
    }
  }

  /** As the method of strings, for a part that is not empty and has characters up to U+00FF only. */
  indexOf(part: string, from: number): number {
    const wanted = Buffer.from(part, "latin1");
    const offset = this.#rarestOf(wanted);
    const byte = wanted[offset] ?? 0;
    let spent = 0;
    for (let at = from + offset; ; at += 1) {
      at = this.#bytes.indexOf(byte, at);
      if (at === -1) return -1;
      const start = at - offset;
      const same = this.#sameAt(wanted, start);
      if (same === wanted.length) return start;
      spent += BYTES_PER_CANDIDATE + same;
      // The sample was wrong about it, or the text repeats itself: most places are right for long.
      const passed = at - from;
      if (spent > FREE_BYTES + passed) return this.#bytes.indexOf(wanted, start + 1);
    }
  }

  /** Bytes from a place on that are as wanted. */
  #sameAt(wanted: Buffer, start: number): number {
    let index = 0;
    while (index < wanted.length && this.#bytes[start + index] === wanted[index]) index += 1;
    return index;
  }

  #rarestOf(wanted: Buffer): number {
    let rarest = 0;
    for (let index = 1; index < wanted.length; index += 1) {
      if ((this.#counts[wanted[index] ?? 0] ?? 0) < (this.#counts[wanted[rarest] ?? 0] ?? 0)) rarest = index;
    }
    return rarest;
  }
}
