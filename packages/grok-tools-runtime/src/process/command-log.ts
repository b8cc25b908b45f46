import { type FileHandle, open } from "node:fs/promises";
import type { CommandOutput, OutputChunk } from "./command-runner.ts";

const CHUNK_BYTES = 64 * 1024;

/** Reads a command's log while its supervisor writes it. Holds no descriptor between two reads. */
export class CommandLog {
  readonly #path: string;
  #announcedBytes = 0;
  #isFinished = false;
  #waiters = new Set<() => void>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Bytes that are in the log, or at least were produced. */
  get announcedBytes(): number {
    return this.#announcedBytes;
  }

  /** The supervisor has written up to here. */
  announce(totalBytes: number): void {
    this.#announcedBytes = Math.max(this.#announcedBytes, totalBytes);
    this.#wake();
  }

  /** The command has ended. */
  finish(): void {
    this.#isFinished = true;
    this.#wake();
  }

  /** Bytes from `offset`; fewer than asked for at the end, none beyond it or without a log. */
  async read(offset: number, maxBytes: number): Promise<Uint8Array> {
    const length = Math.min(maxBytes, this.#announcedBytes - offset);
    if (length <= 0) return new Uint8Array();
    return (await this.#withFile((file) => readAt(file, offset, length))) ?? new Uint8Array();
  }

  /** Everything from the first byte, as it is announced, until the end or until `signal` aborts. */
  async *follow(signal: AbortSignal): AsyncGenerator<OutputChunk, void, undefined> {
    let offset = 0;
    while (!signal.aborted) {
      const isLast = this.#isFinished;
      const bytes = await this.read(offset, CHUNK_BYTES);
      if (bytes.length > 0) {
        yield { offset, bytes };
        offset += bytes.length;
      } else if (isLast || offset < this.#announcedBytes) {
        // At the end, or at the place where the log could not be written.
        return;
      } else {
        await this.#growth(signal);
      }
    }
  }

  /** Head and tail from the file, after the process that kept them is gone. */
  async rebuild(headBytes: number, tailBytes: number): Promise<CommandOutput> {
    const rebuilt = await this.#withFile(async (file) => {
      const { size } = await file.stat();
      const head = await readAt(file, 0, Math.min(headBytes, size));
      const tailLength = Math.min(tailBytes, size - head.length);
      const tail = await readAt(file, size - tailLength, tailLength);
      return { head, tail, omittedBytes: size - head.length - tail.length, totalBytes: size };
    });
    return rebuilt ?? { head: new Uint8Array(), tail: new Uint8Array(), omittedBytes: 0, totalBytes: 0 };
  }

  async #withFile<Result>(use: (file: FileHandle) => Promise<Result>): Promise<Result | undefined> {
    let file: FileHandle;
    try {
      file = await open(this.#path, "r");
    } catch {
      // It could not be written, or its owner has removed it.
      return undefined;
    }
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }

  #growth(signal: AbortSignal): Promise<void> {
    if (this.#isFinished || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#waiters.delete(wake);
        resolve();
      };
      signal.addEventListener("abort", wake, { once: true });
      this.#waiters.add(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
