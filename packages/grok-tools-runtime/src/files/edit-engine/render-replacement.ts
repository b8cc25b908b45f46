import type { Span } from "./find-matches.ts";
import type { Units } from "./units.ts";

type Terminator = "\n" | "\r\n";

/** One line of a span or of a replacement; only the last one has no terminator. */
interface Line {
  readonly text: string;
  readonly terminator: Terminator | "";
}

/**
 * The units that take the place of `span`.
 *
 * Lines at the start and the end that equal those of the span keep the span's bytes, line endings included. Every
 * other line ending becomes the one used at the span; in a file without any it stays as sent.
 */
export function renderReplacement(units: Units, span: Span, replacement: string): string {
  const lines = splitLines(replacement);
  if (lines.length === 1) return replacement;
  const old = splitLines(units.slice(span.start, span.end));
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
  const ending = lineEndingAt(units, span);
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
  const next = units.indexOf("\n", start);
  if (next !== -1) return terminatorAt(units, next);
  const previous = start === 0 ? -1 : units.lastIndexOf("\n", start - 1);
  return previous === -1 ? undefined : terminatorAt(units, previous);
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
