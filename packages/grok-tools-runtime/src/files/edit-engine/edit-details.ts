import { type EditableText, fromUnits } from "./editable-text.ts";
import type { Replacement } from "./splice.ts";

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

/** Details of the first `maxDetails` of all replacements of an edit, in order. */
export function editDetails(
  text: EditableText,
  replacements: readonly Replacement[],
  maxDetails: number,
): EditDetail[] {
  const newUnits = applyToUnits(text.units, replacements);
  const oldLines = new LineCounter(text.units);
  const newLines = new LineCounter(newUnits);
  let shift = 0;
  return replacements.slice(0, maxDetails).map(({ span, units }) => {
    const start = span.start + shift;
    const end = start + units.length;
    shift += units.length - (span.end - span.start);
    const lineStart = newUnits.lastIndexOf("\n", start - 1) + 1;
    const toText = (from: number, to: number): string =>
      fromUnits(newUnits.slice(from, to), text).replaceAll("\r\n", "\n");
    return {
      old_string: fromUnits(text.units.slice(span.start, span.end), text).replaceAll("\r\n", "\n"),
      old_line: oldLines.lineAt(span.start),
      new_string: fromUnits(units, text).replaceAll("\r\n", "\n"),
      new_line: newLines.lineAt(start),
      context_before: toText(linesBack(newUnits, start === 0 ? 0 : lineStart), start === 0 ? 0 : lineStart),
      context_after: toText(nextLine(newUnits, end), linesOn(newUnits, nextLine(newUnits, end))),
      line_prefix: start === 0 ? "" : toText(lineStart, start),
    };
  });
}

function applyToUnits(units: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let copied = 0;
  for (const { span, units: inserted } of replacements) {
    parts.push(units.slice(copied, span.start), inserted);
    copied = span.end;
  }
  return parts.join("") + units.slice(copied);
}

/** Start of the line three lines before `lineStart`. */
function linesBack(units: string, lineStart: number): number {
  let at = lineStart;
  for (let line = 0; line < CONTEXT_LINES && at > 0; line += 1) {
    at = at === 1 ? 0 : units.lastIndexOf("\n", at - 2) + 1;
  }
  return at;
}

/** End of the third line from `lineStart`. */
function linesOn(units: string, lineStart: number): number {
  let at = lineStart;
  for (let line = 0; line < CONTEXT_LINES; line += 1) {
    const feed = units.indexOf("\n", at);
    if (feed === -1) return units.length;
    at = feed + 1;
  }
  return at;
}

/** The position itself when a line begins there, else the beginning of the next line. */
function nextLine(units: string, position: number): number {
  if (position === 0 || units[position - 1] === "\n") return position;
  const feed = units.indexOf("\n", position);
  return feed === -1 ? units.length : feed + 1;
}

/** Line numbers of ascending positions, counted once. */
class LineCounter {
  readonly #units: string;
  #line = 1;
  #nextFeed: number;

  constructor(units: string) {
    this.#units = units;
    this.#nextFeed = units.indexOf("\n");
  }

  lineAt(position: number): number {
    while (this.#nextFeed !== -1 && this.#nextFeed < position) {
      this.#line += 1;
      this.#nextFeed = this.#units.indexOf("\n", this.#nextFeed + 1);
    }
    return this.#line;
  }
}
