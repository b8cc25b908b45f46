import { findMatches, type Span } from "./find-matches.ts";
import { commonIndent, indentOf, type LineTable, trimBlanks } from "./line-table.ts";
import { ComparisonBudget, similarity } from "./text-similarity.ts";

/** A text that was looked for and not found, and a file, both in units. */
export interface FuzzySearch {
  readonly units: string;
  readonly lines: LineTable;
  readonly lineTexts: readonly string[];
  readonly oldUnits: string;
  readonly newUnits: string;
  /** Lines of `oldUnits`; the empty one behind a final line feed is left out. */
  readonly oldLines: readonly string[];
  /** `oldUnits` ends with a line feed, which is then part of what is replaced. */
  readonly endsWithFeed: boolean;
}

/** A place in the file, and the text to put there. */
export interface FuzzyMatch {
  readonly span: Span;
  readonly newUnits: string;
}

const MIN_BLOCK_SIMILARITY = 0.6;
const MAX_BLOCK_STEPS = 20_000_000;

/** The same lines when blanks at both ends do not count. */
export function findLineTrimmed(search: FuzzySearch): FuzzyMatch[] {
  const wanted = search.oldLines.map(trimBlanks);
  if (wanted.every((line) => line === "")) return [];
  return findLineBlocks(search, (line, index) => trimBlanks(line) === wanted[index]);
}

/** The same lines when the indent that all of them share does not count. */
export function findIndented(search: FuzzySearch): FuzzyMatch[] {
  return findLineTrimmed(search).filter(({ span }) => {
    const found = splitLines(search.units.slice(span.start, span.end), search.oldLines.length);
    return isDeeply(withoutIndent(found), withoutIndent(search.oldLines));
  });
}

/** Blocks with the same first and last line whose inner lines are alike. */
export function findBlocks(search: FuzzySearch): FuzzyMatch[] {
  const wanted = search.oldLines.map(trimBlanks);
  const [first, last, inner] = [wanted[0], wanted.at(-1), wanted.slice(1, -1)];
  if (first === undefined || last === undefined || inner.length === 0 || first === "" || last === "")
    return [];
  const texts = search.lineTexts.map(trimBlanks);
  const budget = new ComparisonBudget(MAX_BLOCK_STEPS);
  const matches: FuzzyMatch[] = [];
  for (let start = 0; start < texts.length; start += 1) {
    if (texts[start] !== first) continue;
    let best = { end: -1, likeness: 0 };
    const limit = Math.min(texts.length - 1, start + 2 * wanted.length);
    for (let end = start + 2; end <= limit; end += 1) {
      if (texts[end] !== last) continue;
      const likeness = blockSimilarity(texts.slice(start + 1, end), inner, budget);
      if (likeness >= MIN_BLOCK_SIMILARITY && likeness > best.likeness) best = { end, likeness };
    }
    if (best.end === -1) continue;
    const span = search.lines.span(start, best.end, search.endsWithFeed);
    matches.push({ span, newUnits: search.newUnits });
  }
  return matches;
}

/** The same text when each run of blanks and line endings counts as one blank. */
export function findWithEqualBlanks(search: FuzzySearch): FuzzyMatch[] {
  // Only the blanks that were collapsed: to `trim`, half of a character may be a blank.
  const needle = collapse(search.oldUnits).text.replace(/^ | $/g, "");
  if (needle === "") return [];
  const { text, positions } = collapse(search.units);
  return findMatches(text, needle).map(({ start, end }) => ({
    span: { start: positions[start] ?? 0, end: (positions[end - 1] ?? 0) + 1 },
    newUnits: withoutSameEdges(search),
  }));
}

/** The text with its `\n`, `\t` and `\"` read as what they stand for. */
export function findUnescaped(search: FuzzySearch): FuzzyMatch[] {
  const unescaped = search.oldUnits.replace(/\\([nt"])/g, (_, letter: string) => escapes[letter] ?? letter);
  if (unescaped === search.oldUnits) return [];
  return findMatches(search.units, unescaped).map((span) => ({ span, newUnits: search.newUnits }));
}

/** The text without the blanks and line endings around it. */
export function findWithoutEdges(search: FuzzySearch): FuzzyMatch[] {
  const [, inner] = edgesOf(search.oldUnits);
  if (inner === "" || inner === search.oldUnits) return [];
  return findMatches(search.units, inner).map((span) => ({ span, newUnits: withoutSameEdges(search) }));
}

const blanks: ReadonlySet<string> = new Set([" ", "\t", "\v", "\f", "\r", "\n"]);
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", '"': '"' };

function findLineBlocks(search: FuzzySearch, isSame: (line: string, index: number) => boolean): FuzzyMatch[] {
  const { lineTexts, oldLines, lines, endsWithFeed } = search;
  const matches: FuzzyMatch[] = [];
  for (let start = 0; start + oldLines.length <= lineTexts.length; ) {
    if (!isSame(lineTexts[start] ?? "", 0)) {
      start += 1;
      continue;
    }
    const block = lineTexts.slice(start, start + oldLines.length);
    if (!block.every(isSame)) {
      start += 1;
      continue;
    }
    const span = lines.span(start, start + oldLines.length - 1, endsWithFeed);
    matches.push({ span, newUnits: reindented(search.newUnits, oldLines, block) });
    start += oldLines.length;
  }
  return matches;
}

/** The new text with the file's indent, when the whole old text was only indented otherwise. */
function reindented(newUnits: string, oldLines: readonly string[], fileLines: readonly string[]): string {
  const [oldIndent, fileIndent] = [commonIndent(oldLines), commonIndent(fileLines)];
  const isShifted = oldLines.every((line, index) => {
    if (trimBlanks(line) === "") return true;
    return indentOf(fileLines[index] ?? "") === fileIndent + indentOf(line).slice(oldIndent.length);
  });
  if (!isShifted || oldIndent === fileIndent) return newUnits;
  return newUnits
    .split("\n")
    .map((line) =>
      trimBlanks(line) === "" || !line.startsWith(oldIndent)
        ? line
        : fileIndent + line.slice(oldIndent.length),
    )
    .join("\n");
}

function splitLines(units: string, count: number): string[] {
  return units
    .split("\n")
    .slice(0, count)
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

function withoutIndent(lines: readonly string[]): string[] {
  const { length } = commonIndent(lines);
  return lines.map((line) => (trimBlanks(line) === "" ? "" : line.slice(length)));
}

function isDeeply(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

/** Mean likeness of the lines, one by one; lines without a partner count as different. */
function blockSimilarity(
  found: readonly string[],
  wanted: readonly string[],
  budget: ComparisonBudget,
): number {
  const pairs = Math.min(found.length, wanted.length);
  let sum = 0;
  for (let at = 0; at < pairs; at += 1) sum += similarity(found[at] ?? "", wanted[at] ?? "", budget);
  return sum / Math.max(found.length, wanted.length);
}

interface CollapsedUnits {
  readonly text: string;
  /** Position in the original of each unit of `text`. */
  readonly positions: Uint32Array;
}

function collapse(units: string): CollapsedUnits {
  const parts: string[] = [];
  const positions = new Uint32Array(units.length);
  let length = 0;
  for (const { index, 0: run } of units.matchAll(/[ \t\v\f\r\n]+|[^ \t\v\f\r\n]+/g)) {
    const isBlank = /^[ \t\v\f\r\n]/.test(run);
    parts.push(isBlank ? " " : run);
    const size = isBlank ? 1 : run.length;
    for (let at = 0; at < size; at += 1) positions[length + at] = index + at;
    length += size;
  }
  return { text: parts.join(""), positions };
}

/** Blanks and line endings before, the text, and those behind. */
function edgesOf(units: string): readonly [before: string, inner: string, behind: string] {
  const [before = ""] = /^[ \t\v\f\r\n]*/.exec(units) ?? [];
  const rest = units.slice(before.length);
  let end = rest.length;
  while (end > 0 && blanks.has(rest.charAt(end - 1))) end -= 1;
  return [before, rest.slice(0, end), rest.slice(end)];
}

/** The new text without the edges that it shares with the old: those stay in the file. */
function withoutSameEdges({ oldUnits, newUnits }: FuzzySearch): string {
  const [before, , behind] = edgesOf(oldUnits);
  const headless = newUnits.startsWith(before) ? newUnits.slice(before.length) : newUnits;
  return behind !== "" && headless.endsWith(behind) ? headless.slice(0, -behind.length) : headless;
}
