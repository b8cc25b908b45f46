import { matchesGlob, parseGlob } from "./glob.ts";
import type { SearchQuery } from "./search-query.ts";

/** Whether a path relative to the searched folder is wanted. */
export type PathFilter = (path: string) => boolean;

/** The filter that a glob stands for. A glob with `!` in front excludes; one without a slash is about names. */
export function globFilter(glob: string): PathFilter {
  const isExclusion = isExcluding(glob);
  const pattern = isExclusion ? glob.slice(1) : glob;
  // As in ignore files, a glob without a slash is about names in any folder.
  const parsed = parseGlob(pattern.includes("/") ? pattern : `**/${pattern}`);
  return (path) => matchesGlob(parsed, path) !== isExclusion;
}

/**
 * What has to be filtered here instead of by ripgrep: ripgrep takes a glob as a wish to see hidden and ignored files
 * too. Undefined: ripgrep does it.
 */
export function narrowingFilter({ glob, globNarrows, root }: SearchQuery): PathFilter | undefined {
  if (globNarrows !== true || glob === undefined || glob === "" || root.isFile) return undefined;
  return isExcluding(glob) ? undefined : globFilter(glob);
}

function isExcluding(glob: string): boolean {
  return glob.startsWith("!");
}
