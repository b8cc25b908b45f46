import { constants } from "node:fs";
import { lstat, open, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { TriviumError } from "@trivium/core";
import { type FolderNode, readFolderTree } from "../files/folder-tree.ts";
import { IgnoreFiles } from "../files/ignore/ignore-files.ts";
import { assertHandleInsideRoots, type Roots } from "../files/path-jail.ts";
import { decodeText, detectEncoding } from "../files/text-encoding.ts";
import { ContentCollector } from "./content-collector.ts";
import type { ContentMatches, ContentSearch } from "./content-search.ts";
import { globFilter } from "./glob-filter.ts";
import { LineMatcher } from "./line-matcher.ts";
import { comparePaths } from "./matching-lines.ts";
import type { SearchEnd, SearchQuery, SearchRoot } from "./search-query.ts";

/** As ripgrep is told: larger files are skipped unless they are named. */
const MAX_FILE_BYTES = 5 * 1024 * 1024;
/** A named file is held in memory. */
const MAX_NAMED_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 100_000;

/** Whether a search failed because there is no ripgrep. */
export function isMissingProgram(thrown: unknown): boolean {
  return TriviumError.isInstance(thrown) && thrown.kind === "notFound";
}

/**
 * Searches without ripgrep, file by file in the order of their paths. Patterns are JavaScript's; file types are not
 * known. Slower than ripgrep, with the same limits and ignore rules.
 */
export async function builtInSearch(search: ContentSearch): Promise<ContentMatches> {
  const { query, scope, clock } = search;
  const matcher = LineMatcher.compile(query);
  if (typeof matcher === "string") return invalid(matcher);
  if (query.fileType !== undefined && query.fileType !== "") {
    return invalid(`unrecognized file type: ${query.fileType} (file types need ripgrep; use a glob)`);
  }
  const collector = new ContentCollector(search);
  const deadlineMs = clock.monotonic() + scope.timeoutMs;
  for (const path of await filesOf(query, search)) {
    scope.signal.throwIfAborted();
    if (clock.monotonic() > deadlineMs) return finish(collector, { isTimedOut: true });
    const text = await textOf(path, query.root);
    if (text === undefined) continue;
    const found = matcher.match(text.units);
    if (found === undefined) return invalid("regex parse error: matching this pattern takes too long");
    if (found.length === 0) continue;
    collector.begin(path);
    for (const lines of found) collector.add(lines);
    collector.end(text.binaryOffset);
    if (collector.isFull) return finish(collector, { isTruncated: true });
  }
  return finish(collector, {});
}

const ended: SearchEnd = {
  exitCode: 0,
  stderr: "",
  isInvalid: false,
  isTimedOut: false,
  isTruncated: false,
  engine: "built-in",
};

function finish({ files }: ContentCollector, end: Partial<SearchEnd>): ContentMatches {
  const exitCode = end.isTimedOut === true ? -1 : files.length > 0 ? 0 : 1;
  return { end: { ...ended, exitCode, ...end }, files, skippedCount: 0 };
}

function invalid(stderr: string): ContentMatches {
  return { end: { ...ended, exitCode: 2, stderr, isInvalid: true }, files: [], skippedCount: 0 };
}

async function filesOf(
  { root, glob, obeysGitIgnore, includesHidden = false }: SearchQuery,
  { scope }: ContentSearch,
): Promise<string[]> {
  if (root.isFile) return [basename(root.path)];
  const { environment, signal } = scope;
  const tree = await readFolderTree({
    path: root.path,
    roots: root.roots,
    ignoreFiles: new IgnoreFiles({ homeDirectory: environment["HOME"], environment }),
    sources: { git: obeysGitIgnore, dotIgnore: true },
    includesHidden,
    maxEntries: MAX_ENTRIES,
    signal,
  });
  const paths = pathsIn(tree.root, "").sort(comparePaths);
  return glob === undefined || glob === "" ? paths : paths.filter(globFilter(glob));
}

function pathsIn(folder: FolderNode, prefix: string): string[] {
  return folder.entries.flatMap((entry) =>
    entry.kind === "file" ? [prefix + entry.name] : pathsIn(entry.folder, `${prefix}${entry.folder.name}/`),
  );
}

interface SearchedText {
  readonly units: string;
  /** Offset of the first NUL of a file that was named. */
  readonly binaryOffset: number | undefined;
}

/** Undefined for what is not searched: links, large and binary files, and what cannot be read. */
async function textOf(
  relativePath: string,
  { path: rootPath, openPath, roots, isFile: isNamed }: SearchRoot,
): Promise<SearchedText | undefined> {
  const path = isNamed ? openPath : join(rootPath, relativePath);
  const stats = await (isNamed ? stat(path) : lstat(path)).catch(() => undefined);
  if (stats?.isFile() !== true || stats.size > (isNamed ? MAX_NAMED_BYTES : MAX_FILE_BYTES)) return undefined;
  const flags =
    constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (isNamed ? 0 : (constants.O_NOFOLLOW ?? 0));
  const bytes = await readInside(path, { flags, roots }).catch(() => undefined);
  if (bytes === undefined) return undefined;
  const { encoding, markBytes } = detectEncoding(bytes);
  const nul = encoding === "utf-8" ? bytes.indexOf(0) : -1;
  if (nul !== -1 && !isNamed) return undefined;
  return {
    units: decodeText(bytes.subarray(markBytes), encoding),
    binaryOffset: nul === -1 ? undefined : nul,
  };
}

async function readInside(
  path: string,
  { flags, roots }: { readonly flags: number; readonly roots: Roots },
): Promise<Buffer> {
  await using handle = await open(path, flags);
  await assertHandleInsideRoots(handle, path, roots);
  return await handle.readFile();
}
