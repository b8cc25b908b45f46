import { firstBytes } from "../read-file/number-lines.ts";
import type { FolderEntry } from "./collect-entries.ts";

const MAX_NAME_BYTES = 500;

const suffixes = {
  file: "",
  folder: "/",
  "unreadable-folder": "/!",
  link: "@",
  other: "?",
} as const satisfies Record<FolderEntry["kind"], string>;

/** One line for an entry: its name, indented by its level, with a mark for its kind. */
export function renderEntry({ name, level, kind }: FolderEntry): string {
  return "  ".repeat(level) + firstBytes(name, MAX_NAME_BYTES) + suffixes[kind];
}

/**
 * Entries in the order they are listed. `path` compares the bytes of whole paths, so that a folder can be apart from its
 * entries (`a`, `a-b`, `a/x`); `tree` keeps them together.
 */
export function sortEntries(entries: readonly FolderEntry[], order: "path" | "tree"): FolderEntry[] {
  return entries
    .map((entry) => ({
      entry,
      // No name holds the lowest byte, so it comes before all that names can have.
      key: Buffer.from(order === "tree" ? entry.path.replaceAll("/", "\0") : entry.path),
    }))
    .sort((one, other) => Buffer.compare(one.key, other.key))
    .map(({ entry }) => entry);
}
