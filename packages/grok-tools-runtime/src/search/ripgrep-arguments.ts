import { basename } from "node:path";
import { narrowingFilter } from "./glob-filter.ts";
import type { SearchQuery, SearchRoot } from "./search-query.ts";

/** How results are reported and in which order files are taken. */
export interface RipgrepMode {
  /** `json` for lines, `files` for paths, `counts` for paths with numbers of matching lines. */
  readonly report: "json" | "files" | "counts";
  /** Files one after the other, by path. Several times slower than in parallel. */
  readonly isSorted: boolean;
  readonly usesPcre2: boolean;
}

/** Larger files are skipped; a file that is named is searched whatever its size. */
const MAX_FILE_SIZE = "5M";

/** Neither `.gitignore` files nor the excludes of the repository and of the user. */
export const noGitRules: readonly string[] = ["--no-ignore-vcs", "--no-ignore-exclude", "--no-ignore-global"];

const reportArguments = {
  json: ["--json"],
  files: ["--files-with-matches", "--null"],
  counts: ["--count", "--null"],
} as const;

/**
 * Arguments of ripgrep for a query. It runs in the root, so that a glob with a slash is tied to it; paths come
 * relative to it.
 */
export function ripgrepArguments(query: SearchQuery, mode: RipgrepMode): string[] {
  const { linesBefore = 0, linesAfter = 0, glob, fileType } = query;
  const showsLines = mode.report === "json";
  return [
    // A configuration file of the user must not change what is parsed here.
    "--no-config",
    "--color=never",
    "--with-filename",
    ...reportArguments[mode.report],
    ...(mode.isSorted ? ["--sort=path"] : []),
    ...(mode.usesPcre2 ? ["--pcre2"] : []),
    ...(query.obeysGitIgnore ? [] : noGitRules),
    ...(query.ignoreCase === true ? ["--ignore-case"] : []),
    ...(query.multiline === true ? ["--multiline", "--multiline-dotall"] : []),
    ...(showsLines && linesBefore > 0 ? [`--before-context=${linesBefore}`] : []),
    ...(showsLines && linesAfter > 0 ? [`--after-context=${linesAfter}`] : []),
    ...(query.maxMatchesPerFile === undefined ? [] : [`--max-count=${query.maxMatchesPerFile}`]),
    ...(glob === undefined || glob === "" || narrowingFilter(query) !== undefined ? [] : [`--glob=${glob}`]),
    // Behind the caller's glob, which would bring it back: the last one that matches decides.
    ...(query.includesHidden === true ? ["--hidden", "--glob=!.git"] : []),
    ...(fileType === undefined || fileType === "" ? [] : [`--type=${fileType}`]),
    `--max-filesize=${MAX_FILE_SIZE}`,
    `--regexp=${query.pattern}`,
    "--",
    searchedPath(query.root),
  ];
}

function searchedPath({ path, openPath, isFile }: SearchRoot): string {
  if (!isFile) return "./";
  return openPath === path ? `./${basename(path)}` : openPath;
}
