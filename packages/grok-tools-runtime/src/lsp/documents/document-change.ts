/** A change event of the protocol. Positions count UTF-16 units. */
export interface DocumentChange {
  readonly range?: { readonly start: Position; readonly end: Position };
  readonly text: string;
}

interface Position {
  readonly line: number;
  readonly character: number;
}

/** The change from one text to another, which replaces all of it. */
export function wholeChange(kind: "full" | "incremental", before: string, after: string): DocumentChange {
  if (kind === "full") return { text: after };
  return { range: { start: { line: 0, character: 0 }, end: endOf(before) }, text: after };
}

/** The place behind the last character. */
function endOf(text: string): Position {
  let line = 0;
  let lineStart = 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
    line += 1;
    lineStart = index + end.length;
  }
  return { line, character: text.length - lineStart };
}
