import type { Span } from "./find-matches.ts";
import {
  type FuzzyMatch,
  type FuzzySearch,
  findBlocks,
  findIndented,
  findLineTrimmed,
  findUnescaped,
  findWithEqualBlanks,
  findWithoutEdges,
} from "./fuzzy-levels.ts";
import { LineTable } from "./line-table.ts";

/** How far from the given text a place may be: only equal, equal but for indents and outer blanks, or merely alike. */
export type Fuzziness = "off" | "safe" | "full";

/** How a place was found. */
export type MatchLevel = "exact" | FuzzyLevel;

export type FuzzyLevel =
  | "line-trimmed"
  | "indentation-flexible"
  | "block-anchor"
  | "whitespace-normalized"
  | "escape-normalized"
  | "boundary-trimmed";

/** What looking beyond exact matches led to. Undefined: nothing. */
export type FuzzyOutcome =
  | { readonly kind: "found"; readonly level: FuzzyLevel; readonly matches: readonly FuzzyMatch[] }
  | { readonly kind: "ambiguous"; readonly matchCount: number };

/** What is looked for, in units of the file. */
export interface FuzzyRequest {
  readonly units: string;
  readonly oldUnits: string;
  readonly newUnits: string;
  readonly fuzziness: Fuzziness;
  readonly replaceAll: boolean;
}

interface Level {
  readonly name: FuzzyLevel;
  readonly isSafe: boolean;
  find(search: FuzzySearch): FuzzyMatch[];
}

/** The strictest first. */
const levels: readonly Level[] = [
  { name: "line-trimmed", isSafe: true, find: findLineTrimmed },
  { name: "indentation-flexible", isSafe: true, find: findIndented },
  { name: "block-anchor", isSafe: false, find: findBlocks },
  { name: "whitespace-normalized", isSafe: false, find: findWithEqualBlanks },
  { name: "escape-normalized", isSafe: false, find: findUnescaped },
  { name: "boundary-trimmed", isSafe: false, find: findWithoutEdges },
];

/**
 * Looks for a text that does not occur exactly. A level counts when it finds one place, or when all are wanted. A level
 * that finds several leaves it to the later ones to tell which of these is meant; they cannot bring up another place.
 */
export function findFuzzily({ fuzziness, replaceAll, ...request }: FuzzyRequest): FuzzyOutcome | undefined {
  const search = toSearch(request);
  let ambiguous: readonly FuzzyMatch[] | undefined;
  for (const level of levels) {
    if (fuzziness === "off" || (fuzziness === "safe" && !level.isSafe)) continue;
    const matches = withoutOverlaps(level.find(search));
    if (matches.length === 0) continue;
    if (replaceAll && ambiguous === undefined) return { kind: "found", level: level.name, matches };
    const isOneOfThose =
      ambiguous === undefined || ambiguous.some((one) => overlaps(one.span, matches[0]?.span));
    if (matches.length === 1 && isOneOfThose) return { kind: "found", level: level.name, matches };
    ambiguous ??= matches;
  }
  return ambiguous === undefined ? undefined : { kind: "ambiguous", matchCount: ambiguous.length };
}

function toSearch(request: Pick<FuzzyRequest, "units" | "oldUnits" | "newUnits">): FuzzySearch {
  const lines = new LineTable(request.units);
  const oldTable = new LineTable(request.oldUnits);
  return {
    ...request,
    lines,
    lineTexts: lines.texts(),
    oldLines: oldTable.texts(),
    endsWithFeed: request.oldUnits.endsWith("\n"),
  };
}

function withoutOverlaps(matches: readonly FuzzyMatch[]): FuzzyMatch[] {
  let end = -1;
  return matches.filter(({ span }) => {
    if (span.start < end) return false;
    end = span.end;
    return true;
  });
}

function overlaps(one: Span, other: Span | undefined): boolean {
  return other !== undefined && one.start < other.end && other.start < one.end;
}
