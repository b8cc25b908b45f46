import type { Units } from "./units.ts";

/** Half-open range of units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** More places than anybody means; finding them all would only use memory. */
export const MAX_MATCHES: number = 1_000_000;

/**
 * Non-overlapping occurrences of `needle`, left to right, in units of the file.
 *
 * `\r\n` is indivisible. A needle that holds `\r\n` and occurs exactly selects those occurrences; otherwise each
 * `\n` or `\r\n` of the needle stands for either line ending. Everything else must be equal. Looking ends after
 * {@link MAX_MATCHES} plus one.
 */
export function findMatches(haystack: Units, needle: string): Span[] {
  if (needle === "") return [];
  if (!needle.includes("\n")) return findExact(haystack, needle);
  if (needle.includes("\r\n")) {
    const exact = findExact(haystack, needle);
    if (exact.length > 0) return exact;
  }
  return findAcrossLineEndings(haystack, needle);
}

function findExact(haystack: Units, needle: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (;;) {
    const start = haystack.indexOf(needle, from);
    if (start === -1) return spans;
    const end = start + needle.length;
    if (isInsidePair(haystack, start) || isInsidePair(haystack, end)) {
      from = start + 1;
      continue;
    }
    spans.push({ start, end });
    if (spans.length > MAX_MATCHES) return spans;
    from = end;
  }
}

/** Whether a cut at `position` would separate `\r` from its `\n`. */
function isInsidePair(units: Units, position: number): boolean {
  return units.charCodeAt(position) === 10 && units.charCodeAt(position - 1) === 13;
}

function findAcrossLineEndings(haystack: Units, needle: string): Span[] {
  const foldedNeedle = needle.replaceAll("\r\n", "\n");
  // With one kind of line ending only there is nothing to fold.
  if (haystack.indexOf("\r\n") === -1) return findExact(haystack, foldedNeedle);
  const folded = foldLineEndings(haystack.toString());
  const spans: Span[] = [];
  let from = 0;
  // Matches come in order, so the number of removed `\r` before a position only grows.
  let pairs = 0;
  const toOriginal = (position: number): number => {
    while (pairs < folded.pairs.length && (folded.pairs[pairs] ?? 0) < position) pairs += 1;
    return position + pairs;
  };
  for (;;) {
    const start = folded.units.indexOf(foldedNeedle, from);
    if (start === -1) return spans;
    from = start + foldedNeedle.length;
    spans.push({ start: toOriginal(start), end: toOriginal(from) });
    if (spans.length > MAX_MATCHES) return spans;
  }
}

interface FoldedUnits {
  readonly units: string;
  /** Positions in `units` of each `\n` that stands for `\r\n`, ascending. */
  readonly pairs: readonly number[];
}

function foldLineEndings(units: string): FoldedUnits {
  const pairs: number[] = [];
  for (let at = units.indexOf("\r\n"); at !== -1; at = units.indexOf("\r\n", at + 2))
    pairs.push(at - pairs.length);
  return { units: units.replaceAll("\r\n", "\n"), pairs };
}
