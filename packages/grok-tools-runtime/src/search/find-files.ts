import { join } from "node:path";
import { matchesGlob, parseGlob } from "./glob.ts";
import { listFileNames } from "./list-file-names.ts";
import { comparePaths } from "./matching-lines.ts";
import { newestFirst } from "./newest-first.ts";
import type { SearchScope } from "./search-query.ts";

/** A search for files by name. */
export interface FileSearch {
  readonly scope: SearchScope;
  /** Existing folder, absolute; paths are given below it. */
  readonly folder: string;
  /** Leads to the same folder, whatever its path means by now. */
  readonly openPath: string;
  /** Glob on the path below the folder, for example `src/**\/*.ts`. */
  readonly pattern: string;
  readonly obeysGitIgnore: boolean;
  readonly maxPaths: number;
}

/** Files by name. */
export interface FoundFiles {
  /** Absolute, newest first; equally old ones by path. */
  readonly paths: readonly string[];
  /** Further files that match. */
  readonly moreCount: number;
  /** The time was up, or there were too many files to look at. */
  readonly isIncomplete: boolean;
}

/** Names read at most. */
const MAX_LISTED_BYTES = 64 * 1024 * 1024;
/** Matching files whose age is looked at. */
const MAX_COMPARED_FILES = 20_000;
/** Folders that are left out unless the pattern names them. */
const unnamedFolders = [".git", "node_modules"];

/**
 * Finds files by name, hidden ones included and ignored ones left out.
 *
 * @throws as {@link runRipgrep}.
 */
export async function findFiles(search: FileSearch): Promise<FoundFiles> {
  const { folder, openPath, pattern, maxPaths, scope } = search;
  const { names, isIncomplete } = await listNames(search);
  const glob = parseGlob(pattern);
  const matching = names.filter((name) => matchesGlob(glob, name)).sort(comparePaths);
  const compared = matching.slice(0, MAX_COMPARED_FILES);
  const newest = await newestFirst(openPath, compared, scope.signal);
  return {
    paths: newest.slice(0, maxPaths).map((name) => join(folder, name)),
    moreCount: Math.max(0, matching.length - maxPaths),
    isIncomplete: isIncomplete || matching.length > compared.length,
  };
}

async function listNames({
  scope,
  openPath,
  pattern,
  obeysGitIgnore,
}: FileSearch): Promise<{ names: readonly string[]; isIncomplete: boolean }> {
  const left = unnamedFolders.filter((name) => !pattern.split("/").includes(name));
  const { names, end, isCut } = await listFileNames({
    scope,
    openPath,
    obeysGitIgnore,
    globs: left.map((name) => `!**/${name}`),
    maxBytes: MAX_LISTED_BYTES,
  });
  return { names, isIncomplete: isCut || end.reason !== "exited" };
}
