/** Someone who keeps request bytes in memory and can be told to let them go. */
export interface ByteHolder {
  /** Gives everything back at once and fails its call. */
  refuse(): void;
}

/**
 * An upper bound for request bytes that are held at one time.
 *
 * HTTP/2 windows are no such bound: Node returns the connection's window as data arrives, read or not.
 */
export class ByteBudget {
  readonly maxBytes: number;
  readonly #parent: ByteBudget | undefined;
  /** In the order of their first bytes, so that the last is the newest. */
  readonly #holders = new Set<ByteHolder>();
  #heldBytes = 0;

  constructor(maxBytes: number, parent?: ByteBudget) {
    this.maxBytes = maxBytes;
    this.#parent = parent;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Counts bytes of a holder. When that is too much, the newest holder is refused, which may be this one. */
  take(holder: ByteHolder, bytes: number): void {
    this.#heldBytes += bytes;
    this.#holders.add(holder);
    this.#parent?.take(holder, bytes);
    if (this.#heldBytes > this.maxBytes) [...this.#holders].at(-1)?.refuse();
  }

  /** Returns everything a holder has. */
  release(holder: ByteHolder, bytes: number): void {
    this.#heldBytes -= bytes;
    if (bytes > 0) this.#holders.delete(holder);
    this.#parent?.release(holder, bytes);
  }
}
