import { allocateBytes, freeBytes } from "@trivium/core/node";
import { countLineFeeds } from "./count-line-feeds.ts";
import type { OpenFile } from "./open-file.ts";
import { fill } from "./recent-part.ts";
import type { DetectedEncoding } from "./text-encoding.ts";

/** Bytes read at once. Even, so that UTF-16 units are never cut. */
const CHUNK_BYTES = 256 * 1024;

/** Lets a caller look at every byte while lines are counted, for example to hash them. */
export type ChunkObserver = (chunk: Uint8Array) => void;

/** What counting lines needs of an open file. */
export interface LineSource extends Pick<OpenFile, "handle" | "recent"> {
  readonly signal: AbortSignal;
}

interface PendingChunk {
  readonly start: number;
  readonly bytes: Promise<Buffer>;
}

/**
 * Where lines begin in a file, learnt on the way and kept for later reads.
 *
 * Memory does not depend on the lines: one entry for every 256 KiB. Line numbers start at 1; the text behind the last
 * line feed is a line too, even when it is empty.
 */
export class LineIndex {
  readonly sizeBytes: number;
  readonly #markBytes: number;
  readonly #unitBytes: 1 | 2;
  /** Position of the low byte of a line feed within a unit. */
  readonly #lowByte: 0 | 1;
  /** Line feeds before each chunk. */
  readonly #feedsBefore: number[] = [0];
  #scannedBytes: number;

  constructor(sizeBytes: number, { encoding, markBytes }: DetectedEncoding) {
    this.sizeBytes = sizeBytes;
    this.#markBytes = markBytes;
    this.#unitBytes = encoding === "utf-8" ? 1 : 2;
    this.#lowByte = encoding === "utf-16be" ? 1 : 0;
    this.#scannedBytes = markBytes;
  }

  get isComplete(): boolean {
    return this.#scannedBytes >= this.sizeBytes;
  }

  /** Lines of the file: exact when {@link isComplete}, else estimated from the part that was read. */
  get totalLines(): number {
    const feeds = this.#feedsSoFar;
    if (this.sizeBytes <= this.#markBytes) return 0;
    if (this.isComplete) return feeds + 1;
    const share = (this.sizeBytes - this.#markBytes) / Math.max(1, this.#scannedBytes - this.#markBytes);
    return Math.max(feeds + 1, Math.round(feeds * share) + 1);
  }

  /** Reads to the end, so that the number of lines is exact. `observe` sees every byte after the byte order mark. */
  async complete(source: LineSource, observe?: ChunkObserver): Promise<void> {
    await this.#scan(source, { isEnough: () => false, observe });
  }

  /**
   * Byte offset of the beginning of a line. Undefined when the file has fewer lines, or when the line does not begin
   * in the first `stopBytes` or so.
   */
  async offsetOf(
    line: number,
    source: LineSource,
    stopBytes: number = Infinity,
  ): Promise<number | undefined> {
    if (line <= 1) return this.#markBytes;
    const feedsNeeded = line - 1;
    await this.#scan(source, {
      isEnough: () => this.#feedsSoFar >= feedsNeeded || this.#scannedBytes >= stopBytes,
    });
    if (this.#feedsSoFar < feedsNeeded) return undefined;
    const chunkIndex = this.#chunkWithFeed(feedsNeeded);
    const start = this.#markBytes + chunkIndex * CHUNK_BYTES;
    const chunk = await readRange(source, start, this.#lengthAt(start));
    const end = this.#endOfFeed(chunk, feedsNeeded - (this.#feedsBefore[chunkIndex] ?? 0));
    return end === undefined ? undefined : start + end;
  }

  get #feedsSoFar(): number {
    return this.#feedsBefore.at(-1) ?? 0;
  }

  /** Counts chunk by chunk to the end of the file, or until it is enough. */
  async #scan(
    source: LineSource,
    { isEnough, observe }: { isEnough: () => boolean; observe?: ChunkObserver | undefined },
  ): Promise<void> {
    if (this.isComplete || isEnough()) return;
    // Two take turns: one is counted while the next chunk is read into the other.
    const buffers: Buffer[] = [];
    const read = (start: number, round: number): PendingChunk => {
      // The first chunk is often all, and what is wanted next.
      if (round === 0) return { start, bytes: readRange(source, start, this.#lengthAt(start)) };
      const buffer = (buffers[round % 2] ??= allocateBytes(CHUNK_BYTES));
      return this.#readChunk(source, start, buffer);
    };
    let ahead: PendingChunk | undefined;
    try {
      for (let round = 0; !this.isComplete && !isEnough(); round += 1) {
        source.signal.throwIfAborted();
        const start = this.#scannedBytes;
        // Somebody who shares the index was quicker: what was read ahead is not wanted, but its buffer is.
        if (ahead !== undefined && ahead.start !== start) await ahead.bytes;
        const chunk = await (ahead?.start === start ? ahead : read(start, round)).bytes;
        const next = start + CHUNK_BYTES;
        // After a second chunk many may follow.
        ahead = round > 0 && next < this.sizeBytes ? read(next, round + 1) : undefined;
        this.#add(chunk, start, observe);
      }
    } finally {
      // The buffers and the file are in use until then.
      await ahead?.bytes.catch(() => undefined);
      buffers.forEach(freeBytes);
    }
  }

  #readChunk(source: LineSource, start: number, buffer: Buffer): PendingChunk {
    const bytes = fill(source.handle, start, buffer.subarray(0, this.#lengthAt(start)));
    // Awaited in order; a failure of one that is read ahead is not unhandled until then.
    bytes.catch(() => undefined);
    return { start, bytes };
  }

  #lengthAt(start: number): number {
    return Math.min(CHUNK_BYTES, this.sizeBytes - start);
  }

  #add(chunk: Uint8Array, start: number, observe: ChunkObserver | undefined): void {
    // Two reads may share the index; the other one has done this chunk.
    if (this.#scannedBytes !== start) return;
    observe?.(chunk);
    this.#feedsBefore.push(this.#feedsSoFar + this.#countFeeds(chunk));
    const length = this.#lengthAt(start);
    // A file that became shorter ends here; what was promised beyond is gone.
    this.#scannedBytes += chunk.length < length ? this.sizeBytes : length;
  }

  /** Index of the chunk that holds the n-th line feed. */
  #chunkWithFeed(feed: number): number {
    let low = 0;
    let high = this.#feedsBefore.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#feedsBefore[middle] ?? 0) < feed) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #countFeeds(chunk: Uint8Array): number {
    if (this.#unitBytes === 1) return countLineFeeds(chunk);
    let count = 0;
    for (let at = 0; at + 1 < chunk.length; at += 2) if (this.#isFeed(chunk, at)) count += 1;
    return count;
  }

  /** Offset behind the n-th line feed of a chunk. */
  #endOfFeed(chunk: Uint8Array, feed: number): number | undefined {
    let left = feed;
    for (let at = 0; at + this.#unitBytes <= chunk.length; at += this.#unitBytes) {
      if (!this.#isFeed(chunk, at)) continue;
      left -= 1;
      if (left === 0) return at + this.#unitBytes;
    }
    return undefined;
  }

  #isFeed(chunk: Uint8Array, at: number): boolean {
    if (this.#unitBytes === 1) return chunk[at] === 10;
    return chunk[at + this.#lowByte] === 10 && chunk[at + 1 - this.#lowByte] === 0;
  }
}

/** Reads a byte range of an open file; shorter at its end. The bytes can be looked at until the file is closed. */
export async function readRange(
  { handle, recent }: Pick<OpenFile, "handle" | "recent">,
  start: number,
  length: number,
): Promise<Buffer> {
  return await recent.read(handle, start, length);
}
