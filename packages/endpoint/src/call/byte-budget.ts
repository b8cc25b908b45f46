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
  /** What each holds, in the order of their first bytes, so that the last is the newest. */
  readonly #holders = new Map<ByteHolder, number>();
  #heldBytes = 0;

  constructor(maxBytes: number, parent?: ByteBudget) {
    this.maxBytes = maxBytes;
    this.#parent = parent;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Notes how many bytes a holder has now; 0 forgets it. When all together are too many, the newest holder is refused,
   * which may be this one.
   */
  set(holder: ByteHolder, bytes: number): void {
    const growthBytes = bytes - (this.#holders.get(holder) ?? 0);
    this.#heldBytes += growthBytes;
    if (bytes > 0) this.#holders.set(holder, bytes);
    else this.#holders.delete(holder);
    this.#parent?.set(holder, bytes);
    if (growthBytes > 0 && this.#heldBytes > this.maxBytes) [...this.#holders.keys()].at(-1)?.refuse();
  }
}
