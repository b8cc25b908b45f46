/** Reads the lines between the markers of a patch, one after the other. */
export class LineReader {
  readonly #lines: readonly string[];
  #next = 0;

  /** @param lines with both markers */
  constructor(lines: readonly string[]) {
    this.#lines = lines.slice(0, -1);
    this.#next = 1;
  }

  get isAtEnd(): boolean {
    return this.#next >= this.#lines.length;
  }

  /** Number of the line that comes next, from 1. */
  get lineNumber(): number {
    return this.#next + 1;
  }

  /** The next line, which stays; undefined at the end. */
  peek(): string | undefined {
    return this.#lines[this.#next];
  }

  /** Goes on to the line behind the next one. */
  skip(): void {
    this.#next += 1;
  }

  /** What is behind `prefix` in the next line, which is taken; undefined when it begins in another way. */
  takeAfter(prefix: string): string | undefined {
    const line = this.peek();
    if (line?.startsWith(prefix) !== true) return undefined;
    this.skip();
    return line.slice(prefix.length);
  }
}
