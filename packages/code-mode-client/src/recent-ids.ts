const REMEMBERED_IDS = 4096;

/** The newest identifiers of a kind; older ones are forgotten. */
export class RecentIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= REMEMBERED_IDS) return;
    const [oldest] = this.#ids;
    if (oldest !== undefined) this.#ids.delete(oldest);
  }

  /** True when the id was there. */
  delete(id: string): boolean {
    return this.#ids.delete(id);
  }
}
