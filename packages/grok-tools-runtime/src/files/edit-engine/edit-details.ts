import { type EditableText, fromUnits } from "./editable-text.ts";
import type { Replacement } from "./splice.ts";
import { countFeeds, type Units } from "./units.ts";

/** Where a replacement happened and what is around it. Texts have `\n` line endings. */
export interface EditDetail {
  readonly old_string: string;
  /** Line in the old text, from 1. */
  readonly old_line: number;
  readonly new_string: string;
  /** Line in the new text, from 1. */
  readonly new_line: number;
  /** Up to three lines of the new text before the first changed line. */
  readonly context_before: string;
  /** Up to three lines of the new text after the last changed line. */
  readonly context_after: string;
  /** Text on the first changed line before the match. */
  readonly line_prefix: string;
}

const CONTEXT_LINES = 3;
/** Longer contexts and prefixes keep the part next to the change. */
const MAX_CONTEXT_CHARS = 1000;
/** Details end when they have so many characters in all. */
const MAX_DETAIL_CHARS = 4 * 1024 * 1024;

/** An edit to describe. */
export interface DescribedEdit {
  readonly text: EditableText;
  readonly replacements: readonly Replacement[];
  /** The new text. */
  readonly units: Units;
}

/** Details of the first `maxDetails` replacements of an edit, in order; fewer when they would become very long. */
export function editDetails(
  { text, replacements, units: newUnits }: DescribedEdit,
  maxDetails: number,
): EditDetail[] {
  const newLines = new LineCursor(newUnits);
  const details: EditDetail[] = [];
  let shift = 0;
  /** Lines that the places so far have more than before. */
  let lineShift = 0;
  let charCount = 0;
  for (const { span, units } of replacements.slice(0, maxDetails)) {
    const start = span.start + shift;
    const end = start + units.length;
    shift += units.length - (span.end - span.start);
    charCount += span.end - span.start + units.length;
    if (charCount > MAX_DETAIL_CHARS && details.length > 0) break;
    newLines.seek(start);
    const { line, lineStart } = newLines;
    // No replacement begins before the end of the one before it, so one cursor does for both ends.
    newLines.seek(end);
    const toText = (part: string): string => fromUnits(part, text).replaceAll("\r\n", "\n");
    const oldUnits = text.units.slice(span.start, span.end);
    details.push({
      old_string: toText(oldUnits),
      old_line: line - lineShift,
      new_string: toText(units),
      new_line: line,
      context_before: toText(linesBefore(newUnits, lineStart)),
      context_after: toText(linesFrom(newUnits, newLines.lineStart === end ? end : newLines.nextLineStart)),
      line_prefix: toText(newUnits.slice(Math.max(lineStart, start - MAX_CONTEXT_CHARS), start)),
    });
    lineShift += countFeeds(units, 0, units.length) - countFeeds(oldUnits, 0, oldUnits.length);
  }
  return details;
}

/** Up to three lines that end at `lineStart`. */
function linesBefore(units: Units, lineStart: number): string {
  const near = units.slice(Math.max(0, lineStart - MAX_CONTEXT_CHARS), lineStart);
  const lines = near.split("\n");
  // The last one is the empty text behind the last line feed.
  return lines.slice(-CONTEXT_LINES - 1).join("\n");
}

/** Up to three lines from a beginning of a line. */
function linesFrom(units: Units, lineStart: number): string {
  const near = units.slice(lineStart, lineStart + MAX_CONTEXT_CHARS);
  const lines = near.split("\n");
  const isWhole = lines.length > CONTEXT_LINES;
  return lines.slice(0, CONTEXT_LINES).join("\n") + (isWhole ? "\n" : "");
}

/** Goes through a text once and knows the line of ever later positions. */
class LineCursor {
  readonly #units: Units;
  /** From 1. */
  line = 1;
  lineStart = 0;
  #position = 0;
  #nextFeed: number;

  constructor(units: Units) {
    this.#units = units;
    this.#nextFeed = units.indexOf("\n");
  }

  seek(position: number): void {
    // Inside the same line nothing is searched again, however long it is.
    if (this.#nextFeed !== -1 && this.#nextFeed < position) {
      this.line += countFeeds(this.#units, this.#position, position);
      this.lineStart = this.#units.lastIndexOf("\n", position - 1) + 1;
      this.#nextFeed = this.#units.indexOf("\n", position);
    }
    this.#position = position;
  }

  /** Beginning of the line after the current one; the end of the text when there is none. */
  get nextLineStart(): number {
    return this.#nextFeed === -1 ? this.#units.length : this.#nextFeed + 1;
  }
}
