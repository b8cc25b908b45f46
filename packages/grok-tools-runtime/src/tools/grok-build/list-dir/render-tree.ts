import { type FolderNode, labelOf, type TreeEntry } from "../../../files/folder-tree.ts";
import { folderSummary } from "./folder-summary.ts";

/** A tree as text, without the line of the folder itself. */
export interface RenderedTree {
  readonly lines: readonly string[];
  /** Entries of the first level are missing. */
  readonly isCut: boolean;
}

/**
 * Lists a tree within a budget of characters, line ends included.
 *
 * Folders are opened breadth first, in order, as long as their entries fit; one that does not fit stays closed with a
 * summary, and the next is tried.
 */
export function renderTree(root: FolderNode, budgetChars: number): RenderedTree {
  const closed = closedEntries(root, 0);
  const size = sizeOf(closed.flat());
  if (size > budgetChars) return { lines: withinBudget(closed, budgetChars), isCut: true };
  const open = openFolders(root, budgetChars - size);
  return { lines: renderOpen(root, { depth: 0, open }), isCut: false };
}

interface QueuedFolder {
  readonly folder: FolderNode;
  /** Depth of its own line; 0 for a child of the root. */
  readonly depth: number;
}

function openFolders(root: FolderNode, budgetChars: number): ReadonlySet<FolderNode> {
  const open = new Set<FolderNode>();
  let left = budgetChars;
  // Grows while it is walked: children of an opened folder queue up behind.
  const queue: QueuedFolder[] = childFolders(root).map((folder) => ({ folder, depth: 0 }));
  for (const { folder, depth } of queue) {
    const opened = sizeOf(closedEntries(folder, depth + 1).flat());
    const closed = sizeOf(summaryLines(folder, depth));
    if (opened > left + closed) continue;
    left -= opened - closed;
    open.add(folder);
    queue.push(...childFolders(folder).map((child) => ({ folder: child, depth: depth + 1 })));
  }
  return open;
}

function childFolders({ entries }: FolderNode): FolderNode[] {
  return entries.flatMap((entry) => (entry.kind === "folder" ? [entry.folder] : []));
}

/** Lines of the entries of a folder, one group per entry, each folder closed. */
export function closedEntries({ entries }: FolderNode, depth: number): string[][] {
  return entries.map((entry) => [
    entryLine(entry, depth),
    ...(entry.kind === "folder" ? summaryLines(entry.folder, depth) : []),
  ]);
}

/** The line of an entry; children of the root have depth 0. */
export function entryLine(entry: TreeEntry, depth: number): string {
  return `${"  ".repeat(depth + 1)}- ${labelOf(entry)}`;
}

/** The summary under the line of a closed folder at this depth; nothing when there is no file below. */
export function summaryLines(folder: FolderNode, depth: number): string[] {
  const summary = folderSummary(folder);
  return summary === undefined ? [] : [`${"  ".repeat(depth + 2)}${summary}`];
}

interface OpenLevel {
  readonly depth: number;
  readonly open: ReadonlySet<FolderNode>;
}

function renderOpen({ entries }: FolderNode, { depth, open }: OpenLevel): string[] {
  return entries.flatMap((entry) => {
    const line = entryLine(entry, depth);
    if (entry.kind === "file") return [line];
    const below = open.has(entry.folder)
      ? renderOpen(entry.folder, { depth: depth + 1, open })
      : summaryLines(entry.folder, depth);
    return [line, ...below];
  });
}

function withinBudget(groups: readonly string[][], budgetChars: number): string[] {
  const lines: string[] = [];
  let left = budgetChars;
  for (const group of groups) {
    left -= sizeOf(group);
    if (left < 0) break;
    lines.push(...group);
  }
  return [...lines, "    ..."];
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + characterCount(line) + 1, 0);
}

function characterCount(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}
