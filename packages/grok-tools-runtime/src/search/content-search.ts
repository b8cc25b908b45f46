import type { Clock } from "@trivium/core";
import type { ContentLimits } from "./content-collector.ts";
import type { FileLines } from "./matching-lines.ts";
import type { SearchEnd, SearchQuery, SearchScope } from "./search-query.ts";

/** A search for lines. */
export interface ContentSearch extends ContentLimits {
  readonly query: SearchQuery;
  readonly scope: SearchScope;
  readonly clock: Clock;
}

/** Matching lines, by path. */
export interface ContentMatches {
  readonly end: SearchEnd;
  readonly files: readonly FileLines[];
  /** Matching lines that were too long to be read. */
  readonly skippedCount: number;
}
