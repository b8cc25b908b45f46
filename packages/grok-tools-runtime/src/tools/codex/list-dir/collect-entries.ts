import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FolderRules } from "../../../files/ignore/folder-rules.ts";
import { OpenFolder } from "../../../files/open-folder.ts";
import type { Roots } from "../../../files/path-jail.ts";

/** Something in a listed folder. */
export interface FolderEntry {
  /** Relative to the listed folder. */
  readonly path: string;
  readonly name: string;
  /** 0 in the listed folder itself. */
  readonly level: number;
  readonly kind: "file" | "folder" | "unreadable-folder" | "link" | "other";
}

/** Which entries to collect. */
export interface CollectRequest {
  /** Absolute. */
  readonly path: string;
  readonly roots: Roots;
  /** Levels of folders. */
  readonly depth: number;
  readonly maxEntries: number;
  /** Entries that they ignore are left out. Undefined: everything counts. */
  readonly rules: FolderRules | undefined;
  readonly signal: AbortSignal;
}

interface PendingFolder {
  readonly path: string;
  readonly level: number;
  readonly rules: FolderRules | undefined;
}

/**
 * Collects the entries of a folder and of those below it, level by level, hidden ones too. Links are not followed. A
 * folder below that cannot be read is kept and marked. `isCapped`: there are more entries.
 *
 * @throws {@link TriviumError} `permissionDenied` when the first folder is outside the roots, or the file system's error.
 */
export async function collectEntries(
  request: CollectRequest,
): Promise<{ readonly entries: readonly FolderEntry[]; readonly isCapped: boolean }> {
  const { depth, maxEntries, signal } = request;
  const entries: FolderEntry[] = [];
  const pending: PendingFolder[] = [{ path: "", level: 0, rules: request.rules }];
  /** Where a folder is in `entries`, should it turn out to be unreadable. */
  const positions = new Map<string, number>();
  // Folders are appended while the list is gone through: breadth first.
  for (const folder of pending) {
    signal.throwIfAborted();
    const found = await readFolder(folder, request);
    const position = positions.get(folder.path);
    const marked = position === undefined ? undefined : entries[position];
    if (found === undefined && position !== undefined && marked !== undefined) {
      entries[position] = { ...marked, kind: "unreadable-folder" };
    }
    for (const entry of found ?? []) {
      if (entries.length === maxEntries) return { entries, isCapped: true };
      entries.push(entry);
      if (entry.kind !== "folder" || entry.level + 1 >= depth) continue;
      positions.set(entry.path, entries.length - 1);
      const rules = await folder.rules?.enter(join(request.path, entry.path));
      pending.push({ path: entry.path, level: entry.level + 1, rules });
    }
  }
  return { entries, isCapped: false };
}

/** Undefined for a folder below that cannot be read: no right to, gone or replaced by a link meanwhile. */
async function readFolder(
  { path, level, rules }: PendingFolder,
  request: CollectRequest,
): Promise<FolderEntry[] | undefined> {
  const isFirst = level === 0;
  try {
    await using folder = await OpenFolder.open(join(request.path, path), {
      roots: request.roots,
      refusesLink: !isFirst,
    });
    const found = await readdir(folder.path, { withFileTypes: true, encoding: "buffer" });
    return found
      .filter((entry) => isUtf8(entry.name))
      .map((entry) => ({ name: entry.name.toString("utf8"), kind: kindOf(entry) }))
      .filter(({ name, kind }) => rules?.isIgnored(name, kind === "folder") !== true)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, kind }) => ({ name, kind, level, path: path === "" ? name : `${path}/${name}` }));
  } catch (cause) {
    if (isFirst) throw cause;
    return undefined;
  }
}

interface TypedEntry {
  isSymbolicLink(): boolean;
  isDirectory(): boolean;
  isFile(): boolean;
}

function kindOf(entry: TypedEntry): FolderEntry["kind"] {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : "other";
}
