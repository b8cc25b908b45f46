import { type EditableText, toUnits } from "./editable-text.ts";
import type { Span } from "./find-matches.ts";
import { countFeeds } from "./units.ts";

/** Typographic characters and what is typed instead of them. Nothing else is treated as equal. */
const plainForms: ReadonlyMap<string, string> = new Map([
  ["\u201c", '"'],
  ["\u201d", '"'],
  ["\u2018", "'"],
  ["\u2019", "'"],
  ["\u2014", "--"],
  ["\u2013", "-"],
  ["\u2026", "..."],
  ["\u00a0", " "],
]);

/** What a search with typographic characters flattened found. */
export interface ConfusableMatches {
  /** Occurrences in the flattened text, whether they can be edited or not. */
  readonly candidateCount: number;
  /** Those that are whole characters of the file, in units of the file. */
  readonly spans: readonly Span[];
}

/** Occurrences of `needle` when typographic characters of both sides count as their plain forms. */
export function findConfusableMatches(text: EditableText, needle: string): ConfusableMatches {
  const flattener = new Flattener(text);
  const flat = flattener.flatten(text.units.toString());
  const pattern = flattener.flatten(needle).units;
  const spans: Span[] = [];
  let candidateCount = 0;
  if (pattern === "") return { candidateCount, spans };
  for (
    let at = flat.units.indexOf(pattern);
    at !== -1;
    at = flat.units.indexOf(pattern, at + pattern.length)
  ) {
    candidateCount += 1;
    const span = { start: flat.toStart(at), end: flat.toEnd(at + pattern.length) };
    // Half an em dash is no span of its own: the slice flattens to more than was asked for.
    const slice = text.units.slice(span.start, span.end);
    if (slice !== "" && flattener.flatten(slice).units === pattern) spans.push(span);
  }
  return { candidateCount, spans };
}

/** 1-based numbers of the lines of `span` that hold typographic characters. */
export function confusableLines(text: EditableText, span: Span): number[] {
  const flattener = new Flattener(text);
  const lines: number[] = [];
  let line = countFeeds(text.units, 0, span.start) + 1;
  for (const part of text.units.slice(span.start, span.end).split("\n")) {
    if (flattener.isTypographic(part)) lines.push(line);
    line += 1;
  }
  return lines;
}

/** Where the flattened needle is found first, as the smallest span of whole characters around it. */
export function firstConfusableSpan(text: EditableText, needle: string): Span | undefined {
  const flattener = new Flattener(text);
  if (!flattener.isTypographic(text.units.toString()) && !flattener.isTypographic(needle)) return undefined;
  const flat = flattener.flatten(text.units.toString());
  const pattern = flattener.flatten(needle).units;
  const at = pattern === "" ? -1 : flat.units.indexOf(pattern);
  return at === -1 ? undefined : { start: flat.toStart(at), end: flat.toEnd(at + pattern.length) };
}

/** Replaces typographic characters and line endings by their plain forms and remembers where. */
class Flattener {
  readonly #forms = new Map<string, string>([["\r\n", "\n"]]);
  readonly #pattern: RegExp;
  readonly #typographic: RegExp;

  constructor(text: EditableText) {
    const sources = [...plainForms].map(([character, form]) => {
      const units = toUnits(character, text);
      this.#forms.set(units, toUnits(form, text));
      return units;
    });
    // Constants only: no text of a user becomes part of the expression.
    this.#typographic = new RegExp(sources.join("|"));
    this.#pattern = new RegExp(["\r\n", ...sources].join("|"), "g");
  }

  isTypographic(units: string): boolean {
    return this.#typographic.test(units);
  }

  flatten(units: string): FlatUnits {
    const changes: Change[] = [];
    let shift = 0;
    const flat = units.replace(this.#pattern, (found: string, at: number) => {
      const form = this.#forms.get(found) ?? found;
      const start = at + shift;
      changes.push({ start, end: start + form.length, originalStart: at, originalEnd: at + found.length });
      shift += form.length - found.length;
      return form;
    });
    return new FlatUnits(flat, changes);
  }
}

/** One replaced place, in flattened and in original positions. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly originalStart: number;
  readonly originalEnd: number;
}

class FlatUnits {
  readonly units: string;
  readonly #changes: readonly Change[];

  constructor(units: string, changes: readonly Change[]) {
    this.units = units;
    this.#changes = changes;
  }

  /** Original position of a start; inside a replaced place, the beginning of that place. */
  toStart(position: number): number {
    const change = this.#lastBefore(position);
    if (change === undefined) return position;
    return position < change.end ? change.originalStart : position - change.end + change.originalEnd;
  }

  /** Original position of an end; inside a replaced place, the end of that place. */
  toEnd(position: number): number {
    const change = this.#lastBefore(position - 1);
    if (change === undefined) return position;
    return position <= change.end ? change.originalEnd : position - change.end + change.originalEnd;
  }

  /** The last change that starts at or before `position`. */
  #lastBefore(position: number): Change | undefined {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.start ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return this.#changes[low - 1];
  }
}
