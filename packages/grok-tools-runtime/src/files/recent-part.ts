import type { FileHandle } from "node:fs/promises";
import { allocateBytes, freeBytes } from "@trivium/core/node";

/** At least so many bytes are read at once: each reading costs a turn through the thread pool. */
const MIN_READ_BYTES = 64 * 1024;
/** Larger parts are read once and not kept. */
const MAX_KEPT_BYTES = 256 * 1024;

/** The part of a file that was read last. Who reads one part after another finds most of them here. */
export class RecentPart implements Disposable {
  readonly #sizeBytes: number;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /** Reads a byte range; shorter at the end of the file. The bytes can be looked at until the file is closed. */
  async read(handle: FileHandle, start: number, length: number): Promise<Buffer> {
    const kept = this.#viewOf(start, length);
    if (kept !== undefined) return kept;
    if (length > MAX_KEPT_BYTES) return await fill(handle, start, Buffer.allocUnsafe(length));
    const wanted = Math.min(Math.max(length, MIN_READ_BYTES), Math.max(length, this.#sizeBytes - start));
    const bytes = await fill(handle, start, allocateBytes(wanted));
    this.#start = start;
    this.#bytes = bytes;
    return bytes.subarray(0, length);
  }

  [Symbol.dispose](): void {
    freeBytes(this.#bytes);
    this.#bytes = Buffer.alloc(0);
  }

  #viewOf(start: number, length: number): Buffer | undefined {
    const from = start - this.#start;
    if (from < 0 || from + length > this.#bytes.length) return undefined;
    return this.#bytes.subarray(from, from + length);
  }
}

/** Fills a buffer from a place in a file; the end of the file gives less. */
export async function fill(handle: FileHandle, start: number, buffer: Buffer): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
