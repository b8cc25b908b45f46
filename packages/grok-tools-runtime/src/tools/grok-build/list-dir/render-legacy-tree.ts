import type { FolderNode } from "../../../files/folder-tree.ts";
import { closedEntries, entryLine, type RenderedTree, summaryLines } from "./render-tree.ts";

/** Folders with fewer entries are opened: the first one, and those directly in it. */
const ROOT_ENTRIES = 1500;
const CHILD_ENTRIES = 15;

/** The listing of version 0.4.10: fixed thresholds instead of a budget, and a cap in bytes. */
export function renderLegacyTree(root: FolderNode, maxBytes: number): RenderedTree {
  if (root.entries.length === 0) return { lines: ["  no children found"], isCut: false };
  if (root.entries.length >= ROOT_ENTRIES) return { lines: summaryLines(root, -1), isCut: false };
  const lines = root.entries.flatMap((entry) => {
    const line = entryLine(entry, 0);
    if (entry.kind === "file") return [line];
    const isOpen = entry.folder.entries.length < CHILD_ENTRIES;
    return [line, ...(isOpen ? closedEntries(entry.folder, 1).flat() : summaryLines(entry.folder, 0))];
  });
  if (Buffer.byteLength(lines.join("\n")) <= maxBytes) return { lines, isCut: false };
  const notice = `[folders are summarised because the listing has more than ${maxBytes} bytes]`;
  return { lines: [...closedEntries(root, 0).flat(), notice], isCut: true };
}
