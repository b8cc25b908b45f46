import type { ReadText } from "../../../files/read-text.ts";
import type { ToolResult } from "../../../tool.ts";
import { numberLines } from "./number-lines.ts";
import { DEFAULT_LIMIT, type ReadFileInput } from "./read-file-schemas.ts";

/** Lines to show. */
export interface ShownLines {
  readonly lines: readonly string[];
  /** Number of the first of them, from 1. */
  readonly firstLine: number;
  readonly read: ReadText;
  readonly totalLines: number;
}

/** The answer for lines that were read. */
export function shownResult(
  { offset = 1, limit, mode }: ReadFileInput,
  { lines: found, firstLine, read, totalLines }: ShownLines,
  { named, maxOutputBytes }: { readonly named: string; readonly maxOutputBytes: number },
): ToolResult {
  const numbered = numberLines(found, firstLine);
  const lines = withinBytes(numbered.lines, maxOutputBytes);
  const { cutCount } =
    lines.length === found.length ? numbered : numberLines(found.slice(0, lines.length), firstLine);
  const content = lines.join("\n");
  const lastLine = firstLine + lines.length - 1;
  // A window that the caller limited is not announced.
  const isCut =
    lines.length < found.length || (mode === "slice" && limit === undefined && lastLine < totalLines);
  const total = `${read.isTotalEstimated ? "about " : ""}${totalLines}`;
  const text = content === "" ? emptyNotice(totalLines) : content;
  return {
    output: {
      type: "ReadFile",
      FileContent: {
        content,
        absolute_path: named,
        offset,
        limit: limit ?? DEFAULT_LIMIT,
        raw_output: found.slice(0, lines.length).join("\n"),
        total_lines: totalLines,
        ...(read.isTotalEstimated && { total_lines_estimated: true }),
        ...(cutCount > 0 && { truncated_lines: cutCount }),
        ...(read.detected.encoding !== "utf-8" && { encoding: read.detected.encoding }),
        ...(read.detected.markBytes > 0 && { had_bom: true }),
      },
    },
    promptText: isCut ? `${text}\n[showing lines ${firstLine}-${lastLine} of ${total}]` : text,
    truncated: isCut || cutCount > 0,
  };
}

function emptyNotice(totalLines: number): string {
  return totalLines === 0 ? "File is empty." : "(no lines returned)";
}

/** The first lines, at least one, that have so many bytes together. */
function withinBytes(lines: readonly string[], maxBytes: number): readonly string[] {
  let leftBytes = maxBytes;
  const end = lines.findIndex((line) => (leftBytes -= Buffer.byteLength(line) + 1) < -1);
  return end === -1 ? lines : lines.slice(0, Math.max(1, end));
}
