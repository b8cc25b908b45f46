/** Longer lines are cut. */
const MAX_LINE_BYTES = 500;
const CUT_MARK = "...";

/** Lines as a model reads them. */
export interface NumberedLines {
  /** `L12: text`, one for each line. */
  readonly lines: readonly string[];
  readonly cutCount: number;
}

/** Puts its number before each line and cuts long ones, never inside a character. */
export function numberLines(lines: readonly string[], firstLine: number): NumberedLines {
  let cutCount = 0;
  const numbered = lines.map((line, index) => {
    const shown = firstBytes(line, MAX_LINE_BYTES);
    if (shown.length < line.length) cutCount += 1;
    return `L${firstLine + index}: ${shown}${shown.length < line.length ? CUT_MARK : ""}`;
  });
  return { lines: numbered, cutCount };
}

/** The beginning of a text, as many whole characters as have at most so many bytes in UTF-8. */
export function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
