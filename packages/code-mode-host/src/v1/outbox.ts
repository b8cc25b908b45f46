import { encodeFrame } from "./frame.ts";
import type { Lane } from "./lane.ts";
import { ProtocolError } from "./protocol-error.ts";

/** Bytes a client may leave unread. */
export interface OutboxLimits {
  /** From here on nothing more is read from the client. */
  readonly pauseBytes: number;
  /** From here on the client counts as gone. */
  readonly maxBytes: number;
}

/**
 * The frames on their way to the client, over all lanes of a connection.
 *
 * Writers never wait: frames keep the order in which things happened. A client that does not read is not read from
 * either, and is given up when too much waits for it.
 */
export class Outbox {
  readonly #limits: OutboxLimits;
  readonly #onBroken: (error: Error) => void;
  #unsentBytes = 0;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  /** @param onBroken a lane cannot be written to, or the client does not read; called at most once per frame */
  constructor(limits: OutboxLimits, onBroken: (error: Error) => void) {
    this.#limits = limits;
    this.#onBroken = onBroken;
  }

  /** Bytes that have not left this process. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Queues one message. After {@link Outbox.close} it is dropped. */
  send(lane: Lane, json: string): void {
    if (this.#isClosed) return;
    const frame = encodeFrame(json);
    this.#unsentBytes += frame.length;
    lane.write(frame, (error) => {
      this.#unsentBytes -= frame.length;
      if (error !== undefined) this.#onBroken(error);
      if (this.#unsentBytes <= this.#limits.pauseBytes) this.#wake();
    });
    if (this.#unsentBytes <= this.#limits.maxBytes) return;
    this.#onBroken(new ProtocolError(`the client has left more than ${this.#limits.maxBytes} bytes unread`));
  }

  /** Resolves when the client has read enough to be heard again, or the outbox is closed. */
  async readable(): Promise<void> {
    while (!this.#isClosed && this.#unsentBytes > this.#limits.pauseBytes) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Nothing more is sent. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
