/** A set that forgets its oldest members beyond a number. */
export class RecentIds {
  readonly #capacity: number;
  /** In the order of insertion. */
  readonly #ids = new Set<string>();
  /** Goes on from the last one forgotten: a new iterator would pass by every gap that they have left. */
  readonly #oldest = this.#ids.values();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= this.#capacity) return;
    const { value: oldest } = this.#oldest.next();
    if (oldest !== undefined) this.#ids.delete(oldest);
  }

  /** True when the id was there. */
  delete(id: string): boolean {
    return this.#ids.delete(id);
  }
}
