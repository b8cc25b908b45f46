import { constants } from "node:fs";
import { lstat, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { TriviumError } from "@trivium/core";
import { type FolderNode, readFolderTree } from "../files/folder-tree.ts";
import { IgnoreFiles } from "../files/ignore/ignore-files.ts";
import { decodeText, detectEncoding } from "../files/text-encoding.ts";
import { ContentCollector } from "./content-collector.ts";
import type { ContentMatches, ContentSearch } from "./content-search.ts";
import { matchesGlob, parseGlob } from "./glob.ts";
import { LineMatcher } from "./line-matcher.ts";
import { comparePaths } from "./matching-lines.ts";
import type { SearchEnd, SearchQuery } from "./search-query.ts";

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
    const text = await textOf(
      query.root.isFile ? query.root.path : join(query.root.path, path),
      query.root.isFile,
    );
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
  { root, glob, obeysGitIgnore }: SearchQuery,
  { scope }: ContentSearch,
): Promise<string[]> {
  if (root.isFile) return [basename(root.path)];
  const { environment, signal } = scope;
  const tree = await readFolderTree({
    path: root.path,
    ignoreFiles: new IgnoreFiles({ homeDirectory: environment["HOME"], environment }),
    sources: { git: obeysGitIgnore, dotIgnore: true },
    maxEntries: MAX_ENTRIES,
    signal,
  });
  const paths = pathsIn(tree.root, "").sort(comparePaths);
  if (glob === undefined || glob === "") return paths;
  const isExclusion = glob.startsWith("!");
  const pattern = isExclusion ? glob.slice(1) : glob;
  // As in ignore files, a glob without a slash is about names in any folder.
  const parsed = parseGlob(pattern.includes("/") ? pattern : `**/${pattern}`);
  return paths.filter((path) => matchesGlob(parsed, path) !== isExclusion);
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
async function textOf(path: string, isNamed: boolean): Promise<SearchedText | undefined> {
  const stats = await (isNamed ? stat(path) : lstat(path)).catch(() => undefined);
  if (stats?.isFile() !== true || stats.size > (isNamed ? MAX_NAMED_BYTES : MAX_FILE_BYTES)) return undefined;
  const flag = constants.O_RDONLY | (isNamed ? 0 : (constants.O_NOFOLLOW ?? 0));
  const bytes = await readFile(path, { flag }).catch(() => undefined);
  if (bytes === undefined) return undefined;
  const { encoding, markBytes } = detectEncoding(bytes);
  const nul = encoding === "utf-8" ? bytes.indexOf(0) : -1;
  if (nul !== -1 && !isNamed) return undefined;
  return {
    units: decodeText(bytes.subarray(markBytes), encoding),
    binaryOffset: nul === -1 ? undefined : nul,
  };
}
