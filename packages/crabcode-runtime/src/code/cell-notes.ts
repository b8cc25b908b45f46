const MAX_CHARS = 64 * 1024;

/** What a program notified since the last look; the beginning of it when that is much. */
export class CellNotes {
  #texts: string[] = [];
  #chars = 0;
  #omittedCount = 0;

  add(text: string): void {
    const isFull = this.#chars + text.length > MAX_CHARS;
    if (isFull) this.#omittedCount += 1;
    else this.#texts.push(text.toWellFormed());
    if (!isFull) this.#chars += text.length;
  }

  take(): string[] {
    const omitted = this.#omittedCount === 0 ? [] : [`(${this.#omittedCount} more left out)`];
    const texts = [...this.#texts, ...omitted];
    this.#texts = [];
    this.#chars = 0;
    this.#omittedCount = 0;
    return texts;
  }
}
