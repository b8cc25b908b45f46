import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { extensionOf } from "./content-kind.ts";
import { FolderRules, type RuleSources } from "./ignore/folder-rules.ts";
import type { IgnoreFiles } from "./ignore/ignore-files.ts";
import { OpenFolder } from "./open-folder.ts";
import type { Roots } from "./path-jail.ts";

/** A folder with what is in it, hidden and ignored entries left out. */
export interface FolderNode {
  readonly name: string;
  readonly path: string;
  /** Sorted by {@link compareEntries}. */
  readonly entries: readonly TreeEntry[];
  /** Files anywhere below, by lower-cased extension; `no-ext` for files without one. */
  readonly fileCounts: ReadonlyMap<string, number>;
}

/** A file (or anything that is no folder), or a folder. */
export type TreeEntry =
  | { readonly kind: "file"; readonly name: string }
  | { readonly kind: "folder"; readonly folder: FolderNode };

/** A tree to read. */
export interface TreeRequest {
  /** Absolute. */
  readonly path: string;
  /** Each folder is checked while it is open. */
  readonly roots: Roots;
  readonly ignoreFiles: IgnoreFiles;
  readonly sources: RuleSources;
  /** Also hidden entries, but not `.git`. Default false. */
  readonly includesHidden?: boolean | undefined;
  /** Ignore rules leave folders out, but no files. Default false. */
  readonly keepsIgnoredFiles?: boolean | undefined;
  /** Entries read below the first level; also the cap of the first level. */
  readonly maxEntries: number;
  readonly signal: AbortSignal;
}

/** What was read. */
export interface FolderTree {
  readonly root: FolderNode;
  /** `maxEntries` was reached, so entries are missing. */
  readonly isCapped: boolean;
}

export const NO_EXTENSION = "no-ext";

/** Folders read at once. */
const BATCH = 16;

interface GrowingFolder {
  readonly name: string;
  readonly path: string;
  readonly parent: GrowingFolder | undefined;
  readonly entries: (TreeEntry | { readonly kind: "folder"; readonly folder: GrowingFolder })[];
  readonly fileCounts: Map<string, number>;
  readonly rules: FolderRules;
}

interface ReadFolder {
  readonly folder: GrowingFolder;
  readonly rules: FolderRules;
  readonly found: readonly FoundEntry[];
}

interface FoundEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/**
 * Reads a folder and all folders below it. Symbolic links count as files and are not followed. Folders that cannot be
 * read are empty, also those that were replaced by a link meanwhile; a failure to read the first one is thrown.
 *
 * @throws {@link TriviumError} `permissionDenied` when the first folder is outside the roots, or the file system's error.
 */
export async function readFolderTree(request: TreeRequest): Promise<FolderTree> {
  const { path, roots, ignoreFiles, sources, maxEntries, signal } = request;
  const rules = await FolderRules.of(path, ignoreFiles, sources);
  const root: GrowingFolder = {
    name: "",
    path,
    parent: undefined,
    entries: [],
    fileCounts: new Map(),
    rules,
  };
  const first = await listFolder(path, { roots, refusesLink: false });
  let isCapped = addEntries({ folder: root, rules, found: visible(first, rules, request) }, maxEntries);
  let left = maxEntries;
  let level = childFolders(root);
  while (level.length > 0 && left > 0) {
    const next: GrowingFolder[] = [];
    for (let at = 0; at < level.length && left > 0; at += BATCH) {
      signal.throwIfAborted();
      // Read together, added in order: the same entries are left out each time.
      const batch = level.slice(at, at + BATCH).map((folder) => readFolder(folder, request));
      for (const read of await Promise.all(batch)) {
        const count = Math.min(left, read.found.length);
        isCapped = addEntries(read, left) || isCapped;
        left -= count;
        next.push(...childFolders(read.folder));
      }
    }
    level = next;
  }
  sortEntries(root);
  return { root, isCapped };
}

/** ASCII letters compare without case; a folder compares with a slash behind its name. */
export function compareEntries(one: TreeEntry, other: TreeEntry): number {
  const [left, right] = [labelOf(one), labelOf(other)];
  const [leftFolded, rightFolded] = [foldAscii(left), foldAscii(right)];
  if (leftFolded !== rightFolded) return leftFolded < rightFolded ? -1 : 1;
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Name of an entry as it is listed. */
export function labelOf(entry: TreeEntry): string {
  return entry.kind === "file" ? entry.name : `${entry.folder.name}/`;
}

function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

async function listFolder(
  path: string,
  options: { readonly roots: Roots; readonly refusesLink: boolean },
): Promise<FoundEntry[]> {
  if (options.roots === undefined) return await listEntries(path);
  await using folder = await OpenFolder.open(path, options);
  return await listEntries(folder.path);
}

async function listEntries(path: string): Promise<FoundEntry[]> {
  const entries = await readdir(path, { withFileTypes: true, encoding: "buffer" });
  return entries
    .filter((entry) => isUtf8(entry.name))
    .map((entry) => ({ name: entry.name.toString("utf8"), isFolder: entry.isDirectory() }));
}

async function readFolder(folder: GrowingFolder, request: TreeRequest): Promise<ReadFolder> {
  // No right to look inside, gone or replaced meanwhile: shown as an empty folder.
  const found = await listFolder(folder.path, { roots: request.roots, refusesLink: true }).catch(() => []);
  const rules = await folder.rules.enter(folder.path, new Set(found.map(({ name }) => name)));
  return { folder, rules, found: visible(found, rules, request) };
}

function visible(
  found: readonly FoundEntry[],
  rules: FolderRules,
  { includesHidden = false, keepsIgnoredFiles = false }: TreeRequest,
): FoundEntry[] {
  return found
    .filter(({ name }) => (includesHidden ? name !== ".git" : !name.startsWith(".")))
    .filter(({ name, isFolder }) => (keepsIgnoredFiles && !isFolder) || !rules.isIgnored(name, isFolder))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Adds up to `maxEntries`; true when more were there. */
function addEntries({ folder, rules, found }: ReadFolder, maxEntries: number): boolean {
  for (const { name, isFolder } of found.slice(0, maxEntries)) {
    if (!isFolder) {
      folder.entries.push({ kind: "file", name });
      countFile(folder, name);
      continue;
    }
    const path = join(folder.path, name);
    const child: GrowingFolder = { name, path, parent: folder, entries: [], fileCounts: new Map(), rules };
    folder.entries.push({ kind: "folder", folder: child });
  }
  return found.length > maxEntries;
}

function countFile(folder: GrowingFolder, name: string): void {
  const extension = extensionOf(name) === "" ? NO_EXTENSION : extensionOf(name);
  for (let above: GrowingFolder | undefined = folder; above !== undefined; above = above.parent) {
    above.fileCounts.set(extension, (above.fileCounts.get(extension) ?? 0) + 1);
  }
}

function childFolders(folder: GrowingFolder): GrowingFolder[] {
  return folder.entries.flatMap((entry) =>
    entry.kind === "folder" && isGrowing(entry.folder) ? [entry.folder] : [],
  );
}

function isGrowing(folder: FolderNode | GrowingFolder): folder is GrowingFolder {
  return "rules" in folder;
}

function sortEntries(folder: GrowingFolder): void {
  folder.entries.sort(compareEntries);
  for (const child of childFolders(folder)) sortEntries(child);
}
