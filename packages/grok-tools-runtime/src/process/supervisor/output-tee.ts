import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { TailBuffer } from "./tail-buffer.ts";

/** Where output goes and how much of it is kept. */
export interface OutputTeeOptions {
  readonly logPath: string;
  readonly headBytes: number;
  readonly tailBytes: number;
  /** Called after the bytes are in the log. */
  readonly onOutput: (totalBytes: number) => void;
}

/** After the shell's end: no output for so long means that its own output is in. */
const IDLE_MS = 250;
/** What a pipe can hold: bytes beyond it were written after the shell's end. */
const PIPE_BYTES = 64 * 1024;
const MAX_SETTLE_MS = 2000;

/** Copies a command's output into its log and keeps the beginning and the end of it. Always goes on reading. */
export class OutputTee {
  readonly #reader: Socket;
  readonly #options: OutputTeeOptions;
  /** The beginning, in the pieces it came in. */
  readonly #head: Buffer[] = [];
  readonly #tail: TailBuffer;
  #headLength = 0;
  #log: number | undefined;
  #totalBytes = 0;
  #maxLogBytes = Number.POSITIVE_INFINITY;
  #incompleteAt: number | undefined;
  #hasEnded = false;
  readonly #ended: Promise<void>;
  #onSettleData: (() => void) | undefined;

  constructor(reader: Socket, options: OutputTeeOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#tail = new TailBuffer(options.tailBytes);
    try {
      this.#log = openSync(options.logPath, "w", 0o600);
    } catch {
      // The command runs without its log; the report says so.
      this.#incompleteAt = 0;
    }
    this.#ended = new Promise((resolve) => {
      reader.on("close", () => {
        this.#hasEnded = true;
        this.#closeLog();
        resolve();
      });
    });
    reader.on("error", () => reader.destroy());
    reader.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Offset of the first byte that could not be written to the log. */
  get logIncompleteAt(): number | undefined {
    return this.#incompleteAt;
  }

  /** Resolves when every writer is gone. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Copies of the kept beginning and end. */
  kept(): { head: Uint8Array; tail: Uint8Array } {
    return { head: Buffer.concat(this.#head), tail: this.#tail.toBytes() };
  }

  /**
   * Resolves when everything the shell wrote before its end is in: at the end of the pipe, after a silence, when
   * more than a pipe can hold has come since, or after 2 s.
   */
  settle(): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    const startBytes = this.#totalBytes;
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(idle);
        clearTimeout(limit);
        this.#onSettleData = undefined;
        resolve();
      };
      const limit = setTimeout(finish, MAX_SETTLE_MS);
      const idle = setTimeout(finish, IDLE_MS);
      this.#onSettleData = () => {
        if (this.#totalBytes - startBytes > PIPE_BYTES) finish();
        else idle.refresh();
      };
      void this.#ended.then(finish);
    });
  }

  /** From here on the log holds at most so many bytes; what it has beyond is cut off. */
  limitLog(maxLogBytes: number): void {
    this.#maxLogBytes = maxLogBytes;
    if (this.#log === undefined || this.#totalBytes <= maxLogBytes) return;
    try {
      ftruncateSync(this.#log, maxLogBytes);
    } catch {
      // The log stays long; nothing depends on the cut.
    }
    this.#markIncomplete(maxLogBytes);
  }

  /** Stops reading. A process that still writes gets SIGPIPE. */
  close(): Promise<void> {
    this.#reader.destroy();
    return this.#ended;
  }

  #take(chunk: Buffer): void {
    const headPart = chunk.subarray(0, this.#options.headBytes - this.#headLength);
    if (headPart.length > 0) this.#head.push(Buffer.from(headPart));
    this.#headLength += headPart.length;
    this.#tail.push(chunk.subarray(headPart.length));
    this.#write(chunk);
    this.#totalBytes += chunk.length;
    this.#options.onOutput(this.#totalBytes);
    this.#onSettleData?.();
  }

  #write(chunk: Buffer): void {
    if (this.#log === undefined || this.#incompleteAt !== undefined) return;
    const room = this.#maxLogBytes - this.#totalBytes;
    let written = 0;
    try {
      // A full disk shows first as a short write.
      while (written < Math.min(chunk.length, room)) {
        written += writeSync(this.#log, chunk, written, Math.min(chunk.length, room) - written);
      }
    } catch {
      this.#markIncomplete(this.#totalBytes + written);
      return;
    }
    if (written < chunk.length) this.#markIncomplete(this.#totalBytes + written);
  }

  #markIncomplete(offset: number): void {
    this.#incompleteAt ??= offset;
  }

  #closeLog(): void {
    if (this.#log === undefined) return;
    closeSync(this.#log);
    this.#log = undefined;
  }
}
