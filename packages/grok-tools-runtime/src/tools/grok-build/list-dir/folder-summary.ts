import { type FolderNode, NO_EXTENSION } from "../../../files/folder-tree.ts";

const SHOWN_EXTENSIONS = 3;

/** `[N files in subtree: 2 *.rs, 1 *.md, …]`; undefined when there is no file below. */
export function folderSummary({ fileCounts }: FolderNode): string | undefined {
  const total = [...fileCounts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const shown = [...fileCounts]
    .sort(([oneName, one], [otherName, other]) => other - one || (oneName < otherName ? -1 : 1))
    .slice(0, SHOWN_EXTENSIONS);
  const shownTotal = shown.reduce((sum, [, count]) => sum + count, 0);
  const parts = shown.map(
    ([extension, count]) => `${count} ${extension === NO_EXTENSION ? "*no-ext" : `*.${extension}`}`,
  );
  const more = shownTotal === total ? "" : ", ...";
  return `[${total} ${total === 1 ? "file" : "files"} in subtree: ${parts.join(", ")}${more}]`;
}
