import { isUtf8 } from "node:buffer";
import type { Clock } from "@trivium/core";
import { builtInSearch, isMissingProgram } from "./built-in-search.ts";
import { narrowingFilter, type PathFilter } from "./glob-filter.ts";
import { comparePaths } from "./matching-lines.ts";
import { type OutputReader, runRipgrep } from "./run-ripgrep.ts";
import type { SearchEnd, SearchQuery, SearchScope } from "./search-query.ts";

/** Lines that are counted without ripgrep. */
const MAX_COUNTED_MATCHES = 200_000;

/** A search for files, not for lines. */
export interface PathSearch {
  readonly query: SearchQuery;
  readonly scope: SearchScope;
  readonly clock: Clock;
  /** Also count the matching lines of each file. */
  readonly counts: boolean;
  readonly maxPaths: number;
}

/** A file with matches. */
export interface FoundPath {
  /** Relative to the root of the search. */
  readonly path: string;
  /** Matching lines; 1 when they were not counted. */
  readonly count: number;
}

/** Files with matches, by path; one more than asked for when there are more. */
export interface PathMatches {
  readonly end: SearchEnd;
  readonly paths: readonly FoundPath[];
}

/** Searches for files with matches. As reproducible as {@link searchContent}. */
export async function searchPaths(search: PathSearch): Promise<PathMatches> {
  try {
    return await searchWithRipgrep(search);
  } catch (thrown) {
    if (!isMissingProgram(thrown)) throw thrown;
    return await countLines(search);
  }
}

/** Without ripgrep the paths come from the lines. */
async function countLines({ query, scope, clock, maxPaths }: PathSearch): Promise<PathMatches> {
  const { end, files } = await builtInSearch({
    query: { ...query, linesBefore: 0, linesAfter: 0 },
    scope,
    clock,
    maxListedLines: Infinity,
    maxMatches: MAX_COUNTED_MATCHES,
    maxLineChars: 0,
    hasContext: false,
  });
  const paths = files.map(({ path, lines }) => ({ path, count: lines.length }));
  return { end: { ...end, isTruncated: end.isTruncated || paths.length > maxPaths }, paths };
}

async function searchWithRipgrep({
  query,
  scope,
  clock,
  counts,
  maxPaths,
}: PathSearch): Promise<PathMatches> {
  const startMs = clock.monotonic();
  const report = counts ? "counts" : "files";
  const accepts = narrowingFilter(query);
  const createReader = (): PathReader => new PathReader({ counts, maxPaths, accepts });
  const first = await runRipgrep(
    { query, scope, mode: { report, isSorted: query.root.isFile } },
    createReader,
  );
  if (!first.end.isTruncated || query.root.isFile) return toMatches(first);
  const timeoutMs = scope.timeoutMs - (clock.monotonic() - startMs);
  if (timeoutMs <= 0) return toMatches(first);
  const sorted = { query, scope: { ...scope, timeoutMs }, mode: { report, isSorted: true } } as const;
  const second = await runRipgrep(sorted, createReader);
  return toMatches(second.end.isTimedOut ? first : second);
}

function toMatches({ end, reader }: { readonly end: SearchEnd; readonly reader: PathReader }): PathMatches {
  return { end, paths: reader.paths.toSorted((one, other) => comparePaths(one.path, other.path)) };
}

interface PathReaderOptions {
  readonly counts: boolean;
  readonly maxPaths: number;
  /** Which files count. Undefined: all. */
  readonly accepts: PathFilter | undefined;
}

/** Reads `path NUL`, or `path NUL count LF`. */
class PathReader implements OutputReader {
  readonly #counts: boolean;
  readonly #maxPaths: number;
  readonly #accepts: PathFilter;
  #pending: Buffer = Buffer.alloc(0);
  readonly paths: FoundPath[] = [];

  constructor({ counts, maxPaths, accepts }: PathReaderOptions) {
    this.#counts = counts;
    this.#maxPaths = maxPaths;
    this.#accepts = accepts ?? (() => true);
  }

  push(chunk: Uint8Array): boolean {
    const bytes = Buffer.concat([this.#pending, chunk]);
    let from = 0;
    for (;;) {
      const nul = bytes.indexOf(0, from);
      const end = nul === -1 || !this.#counts ? nul : bytes.indexOf(10, nul);
      if (end === -1) break;
      const name = bytes.subarray(from, nul);
      from = end + 1;
      // A name that is not UTF-8 cannot be written down, nor asked for.
      if (!isUtf8(name)) continue;
      const path = name.toString("utf8").replace(/^\.\//, "");
      if (!this.#accepts(path)) continue;
      this.paths.push({ path, count: this.#counts ? Number(bytes.toString("latin1", nul + 1, end)) : 1 });
      if (this.paths.length > this.#maxPaths) return false;
    }
    this.#pending = bytes.subarray(from);
    return true;
  }
}
