const MAX_CHARS = 64 * 1024;
/** What an empty one takes in the output. */
const CHARS_AROUND = 10;

/** What a program notified since the last look; the beginning of it when that is much. */
export class CellNotes {
  #texts: string[] = [];
  #chars = 0;
  #omittedCount = 0;

  add(text: string): void {
    const chars = text.length + CHARS_AROUND;
    const isFull = this.#chars + chars > MAX_CHARS;
    if (isFull) this.#omittedCount += 1;
    else this.#texts.push(text.toWellFormed());
    if (!isFull) this.#chars += chars;
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
