/** A line that matches, or one around it. */
export interface FoundLine {
  readonly kind: "match" | "context";
  /** From 1. */
  readonly number: number;
  /** Without its line ending; only the beginning of a long line. */
  readonly text: string;
  /** Characters of the whole line. */
  readonly charCount: number;
}

/** Lines of one file, ascending. */
export interface FileLines {
  /** Relative to the root of the search. */
  readonly path: string;
  readonly lines: readonly FoundLine[];
  /** The file has NUL bytes; lines behind the first one are left out. */
  readonly isBinary: boolean;
}

/** Orders paths as `rg --sort path` does: folder by folder, names by their bytes. */
export function comparePaths(one: string, other: string): number {
  const [left, right] = [one.split("/"), other.split("/")];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const order = Buffer.compare(Buffer.from(left[at] ?? ""), Buffer.from(right[at] ?? ""));
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
