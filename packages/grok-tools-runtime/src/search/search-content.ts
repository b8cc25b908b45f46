import { builtInSearch, isMissingProgram } from "./built-in-search.ts";
import { ContentReader } from "./content-reader.ts";
import type { ContentMatches, ContentSearch } from "./content-search.ts";
import { narrowingFilter } from "./glob-filter.ts";
import { comparePaths } from "./matching-lines.ts";
import { runRipgrep } from "./run-ripgrep.ts";
import type { SearchEnd } from "./search-query.ts";

/**
 * Searches files for lines.
 *
 * The same files give the same answer: a search that ends within the limits runs in parallel and is sorted; one that
 * does not is run again file by file, so that its beginning is always the same. See {@link runRipgrep} for errors.
 */
export async function searchContent(search: ContentSearch): Promise<ContentMatches> {
  try {
    return await searchWithRipgrep(search);
  } catch (thrown) {
    if (!isMissingProgram(thrown)) throw thrown;
    return await builtInSearch(search);
  }
}

async function searchWithRipgrep({ query, scope, clock, ...limits }: ContentSearch): Promise<ContentMatches> {
  const startMs = clock.monotonic();
  const parallel = { query, scope, mode: { report: "json", isSorted: query.root.isFile } } as const;
  const createReader = (): ContentReader => new ContentReader(limits, narrowingFilter(query));
  const first = await runRipgrep(parallel, createReader);
  if (!first.end.isTruncated || query.root.isFile) return toMatches(first);
  const timeoutMs = scope.timeoutMs - (clock.monotonic() - startMs);
  if (timeoutMs <= 0) return toMatches(first);
  const sorted = { query, scope: { ...scope, timeoutMs }, mode: { report: "json", isSorted: true } } as const;
  const second = await runRipgrep(sorted, createReader);
  // Out of time: what the parallel run found is more.
  return toMatches(second.end.isTimedOut ? first : second);
}

function toMatches({
  end,
  reader,
}: {
  readonly end: SearchEnd;
  readonly reader: ContentReader;
}): ContentMatches {
  const files = reader.files.toSorted((one, other) => comparePaths(one.path, other.path));
  return { end, files, skippedCount: reader.skippedCount };
}
