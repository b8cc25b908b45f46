import { TriviumError } from "@trivium/core";
import { type FolderNode, readFolderTree } from "../files/folder-tree.ts";
import { IgnoreFiles } from "../files/ignore/ignore-files.ts";
import { isMissingProgram } from "./built-in-search.ts";
import { globFilter } from "./glob-filter.ts";
import { listFileNames } from "./list-file-names.ts";
import { comparePaths } from "./matching-lines.ts";
import type { SearchRoot, SearchScope } from "./search-query.ts";

/** A search for files by a glob in the manner of ripgrep: without a slash it is about names in any folder. */
export interface MatchingFilesSearch {
  readonly root: SearchRoot;
  readonly glob: string;
  readonly scope: SearchScope;
  readonly obeysGitIgnore: boolean;
  /** Ignored files that match are left out too. Else a glob brings them back, except from ignored folders. */
  readonly globNarrows: boolean;
}

/** What was found. */
export interface MatchingFiles {
  /** Relative to the root, by path. Hidden files are among them, those of `.git` are not. */
  readonly names: readonly string[];
  /** What is wrong with the glob. */
  readonly globProblem: string | undefined;
  /** The time was up, or there are too many names. */
  readonly isIncomplete: boolean;
}

const MAX_LISTED_BYTES = 5 * 1024 * 1024;
const MAX_ENTRIES = 100_000;

/**
 * Lists files that match a glob.
 *
 * @throws {@link TriviumError} `unavailable` when the helper process is gone; the reason of the signal.
 */
export async function matchingFiles(search: MatchingFilesSearch): Promise<MatchingFiles> {
  try {
    return await listWithRipgrep(search);
  } catch (thrown) {
    if (!isMissingProgram(thrown)) throw thrown;
    return await listBuiltIn(search);
  }
}

async function listWithRipgrep(search: MatchingFilesSearch): Promise<MatchingFiles> {
  const { root, glob, scope, obeysGitIgnore, globNarrows } = search;
  const { names, end, isCut } = await listFileNames({
    scope,
    openPath: root.openPath,
    obeysGitIgnore,
    globs: [...(globNarrows ? [] : [glob]), "!.git"],
    maxBytes: MAX_LISTED_BYTES,
  });
  const { reason, stderr } = end;
  if (reason === "helper-lost") throw new TriviumError("unavailable", "the process that lists files is gone");
  const complaint = Buffer.from(stderr).toString("utf8");
  if (names.length === 0 && /error parsing glob/i.test(complaint)) {
    return { names: [], globProblem: complaint.trim(), isIncomplete: false };
  }
  const accepts = globNarrows ? globFilter(glob) : () => true;
  return {
    names: names.filter(accepts).sort(comparePaths),
    globProblem: undefined,
    isIncomplete: isCut || reason !== "exited",
  };
}

async function listBuiltIn(search: MatchingFilesSearch): Promise<MatchingFiles> {
  const { root, glob, scope, obeysGitIgnore, globNarrows } = search;
  const { environment, signal } = scope;
  const tree = await readFolderTree({
    path: root.path,
    roots: root.roots,
    ignoreFiles: new IgnoreFiles({ homeDirectory: environment["HOME"], environment }),
    sources: { git: obeysGitIgnore, dotIgnore: true },
    includesHidden: true,
    keepsIgnoredFiles: !globNarrows,
    maxEntries: MAX_ENTRIES,
    signal,
  });
  const names = namesIn(tree.root, "").filter(globFilter(glob)).sort(comparePaths);
  return { names, globProblem: undefined, isIncomplete: tree.isCapped };
}

function namesIn(folder: FolderNode, prefix: string): string[] {
  return folder.entries.flatMap((entry) =>
    entry.kind === "file" ? [prefix + entry.name] : namesIn(entry.folder, `${prefix}${entry.folder.name}/`),
  );
}
