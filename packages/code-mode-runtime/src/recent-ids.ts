/** A set that forgets its oldest members beyond a number. */
export class RecentIds {
  readonly #capacity: number;
  // A Set iterates in the order of insertion, so its first member is the oldest.
  readonly #ids = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= this.#capacity) return;
    const [oldest] = this.#ids;
    if (oldest !== undefined) this.#ids.delete(oldest);
  }

  /** True when the id was there. */
  delete(id: string): boolean {
    return this.#ids.delete(id);
  }
}
