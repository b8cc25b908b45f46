import type { Span } from "./find-matches.ts";
import type { Units } from "./units.ts";

type Terminator = "\n" | "\r\n";

/** One line of a span or of a replacement; only the last one has no terminator. */
interface Line {
  readonly text: string;
  readonly terminator: Terminator | "";
}

/**
 * The units that take the place of `span` in the text of `endings`.
 *
 * Lines at the start and the end that equal those of the span keep the span's bytes, line endings included. Every
 * other line ending becomes the one used at the span; in a file without any it stays as sent.
 */
export function renderReplacement(endings: LineEndingCursor, span: Span, replacement: string): string {
  const lines = splitLines(replacement);
  if (lines.length === 1) return replacement;
  const old = splitLines(endings.units.slice(span.start, span.end));
  const shorter = Math.min(lines.length, old.length);
  let leading = 0;
  while (leading < shorter && isSameLine(lines[leading], old[leading])) leading += 1;
  let trailing = 0;
  while (
    trailing < shorter - leading &&
    isSameLine(lines[lines.length - 1 - trailing], old[old.length - 1 - trailing])
  ) {
    trailing += 1;
  }
  const ending = endings.at(span.start);
  const inserted = lines
    .slice(leading, lines.length - trailing)
    .map(({ text, terminator }) => text + (terminator === "" ? "" : (ending ?? terminator)));
  return [
    ...old.slice(0, leading).map(toUnits),
    ...inserted,
    ...old.slice(old.length - trailing).map(toUnits),
  ].join("");
}

/**
 * The line ending used at a span: the first inside it, else the first after it, else the last before it.
 * Undefined in a file without line endings.
 */
export function lineEndingAt(units: Units, { start }: Span): Terminator | undefined {
  return new LineEndingCursor(units).at(start);
}

/** Tells the line ending at many places of one text: a long line is searched once for all places on it. */
export class LineEndingCursor {
  readonly units: Units;
  /** From here to the line feed at `#feed`, which is -1 when there is none, the answer is the same. */
  #from = Number.POSITIVE_INFINITY;
  #feed = -1;
  #ending: Terminator | undefined;

  constructor(units: Units) {
    this.units = units;
  }

  /** As {@link lineEndingAt} for a span that starts there. */
  at(start: number): Terminator | undefined {
    if (start >= this.#from && (this.#feed === -1 || start <= this.#feed)) return this.#ending;
    this.#from = start;
    this.#feed = this.units.indexOf("\n", start);
    const previous = this.#feed === -1 && start > 0 ? this.units.lastIndexOf("\n", start - 1) : this.#feed;
    this.#ending = previous === -1 ? undefined : terminatorAt(this.units, previous);
    return this.#ending;
  }
}

function terminatorAt(units: Units, lineFeed: number): Terminator {
  return units.charCodeAt(lineFeed - 1) === 13 ? "\r\n" : "\n";
}

function splitLines(units: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (let at = units.indexOf("\n"); at !== -1; at = units.indexOf("\n", from)) {
    const isPair = at > from && units[at - 1] === "\r";
    lines.push({ text: units.slice(from, isPair ? at - 1 : at), terminator: isPair ? "\r\n" : "\n" });
    from = at + 1;
  }
  lines.push({ text: units.slice(from), terminator: "" });
  return lines;
}

function isSameLine(one: Line | undefined, other: Line | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.text === other.text && (one.terminator === "") === (other.terminator === "");
}

function toUnits({ text, terminator }: Line): string {
  return text + terminator;
}
