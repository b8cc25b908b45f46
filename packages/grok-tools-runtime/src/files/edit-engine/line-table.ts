import type { Span } from "./find-matches.ts";

/** The lines of a text by position, in units. The text behind the last line ending is a line unless it is empty. */
export class LineTable {
  readonly #units: string;
  readonly #starts: number[] = [];

  constructor(units: string) {
    this.#units = units;
    for (let at = 0; at < units.length; ) {
      this.#starts.push(at);
      const feed = units.indexOf("\n", at);
      at = feed === -1 ? units.length : feed + 1;
    }
  }

  get count(): number {
    return this.#starts.length;
  }

  /** Text of a line, from 0, without its line ending. */
  text(index: number): string {
    const { start, end } = this.span(index, index, false);
    return this.#units.slice(start, end);
  }

  texts(): string[] {
    return this.#starts.map((_, index) => this.text(index));
  }

  /** The lines from `first` to `last`, with or without the line ending of the last. */
  span(first: number, last: number, withEnding: boolean): Span {
    const start = this.#starts[first] ?? this.#units.length;
    const next = this.#starts[last + 1] ?? this.#units.length;
    if (withEnding || this.#units[next - 1] !== "\n") return { start, end: next };
    return { start, end: next - (this.#units[next - 2] === "\r" && next - 2 >= start ? 2 : 1) };
  }
}

/**
 * A line without blanks and carriage returns at both ends. ASCII only: in units of a UTF-8 file other blanks are parts of
 * characters.
 */
export function trimBlanks(line: string): string {
  let start = 0;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  // Not by a pattern: that would look through each run of blanks inside the line once for every blank of it.
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

/** Space, and tab to carriage return but for the line feed. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || (unit >= 0x0b && unit <= 0x0d);
}

/** Blanks at the beginning of a line. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The longest indent that all lines share; blank lines do not count. */
export function commonIndent(lines: readonly string[]): string {
  const indents = lines.filter((line) => trimBlanks(line) !== "").map(indentOf);
  const [first = "", ...others] = indents;
  return others.reduce((common, indent) => {
    let length = 0;
    while (length < common.length && common[length] === indent[length]) length += 1;
    return common.slice(0, length);
  }, first);
}
