import { cutToBytes } from "../../../cut-bytes.ts";
import { lineIndexCache } from "../../../files/line-index-cache.ts";
import type { OpenFile } from "../../../files/open-file.ts";
import { readText } from "../../../files/read-text.ts";
import { toPlainText } from "../../../shell/shell-text.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { contentFailure, type ReadFailure } from "../../grok-build/read-file/read-failure.ts";
import { DEFAULT_LIMIT, type ReadInput } from "./read-input.ts";

const MAX_LINE_BYTES = 2000;
const MAX_TEXT_BYTES = 51_200;
/** Bytes looked at for one answer: long lines are cut, so there may be more of them than is shown. */
const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
const CUT_MARK = `... (line cut to ${MAX_LINE_BYTES} bytes)`;

/** A text to show. */
export interface TextTarget {
  /** Real path. */
  readonly path: string;
  readonly file: OpenFile;
  /** It is full of terminal escapes, which are left out. */
  readonly hasEscapes: boolean;
}

/** What was read, with what the read tracker wants to know. */
export interface ShownText {
  readonly kind: "shown";
  readonly result: ToolResult;
  readonly sha256: string | undefined;
  readonly range: readonly [firstLine: number, lastLine: number] | undefined;
}

/** Shows lines of a text file with their numbers. */
export async function showText(
  input: ReadInput,
  { path, file, hasEscapes }: TextTarget,
  context: ToolContext<unknown>,
): Promise<ShownText | ReadFailure> {
  const { offset = 1, limit = DEFAULT_LIMIT } = input;
  const read = await readText(file, {
    path,
    indexes: context.resource(lineIndexCache),
    signal: context.signal,
    offset,
    maxLines: limit,
    maxBytes: MAX_WINDOW_BYTES,
    cutsAtMaxBytes: true,
  });
  const { window, sha256, isTotalEstimated } = read;
  if (window.kind === "too-large") throw new TypeError("a window that may be cut is never too large");
  // Behind a final line feed no further line begins.
  const total = read.totalLines - (read.endsWithLineFeed ? 1 : 0);
  if (offset > total && total > 0 && !isTotalEstimated) {
    const name = context.parameterName("offset");
    return contentFailure(`Error: \`${name}\` ${offset} is past the end: the file has ${total} lines.`);
  }
  const available = window.lines.slice(0, isTotalEstimated ? undefined : Math.max(0, total - offset + 1));
  const { lines, isCapped } = withinBytes(available.map((line) => (hasEscapes ? toPlainText(line) : line)));
  const lastLine = offset + lines.length - 1;
  const isMore = isCapped || window.isCut || lastLine < total;
  const footer = footerOf(
    { offset, lastLine, total, isMore, isCapped: isCapped || window.isCut, isTotalEstimated },
    context,
  );
  const numbered = lines.map((line, index) => `${offset + index}: ${line}`);
  const notes = hasEscapes ? ["(terminal escapes are left out)"] : [];
  const text = [
    `<path>${path}</path>`,
    "<type>file</type>",
    `<content>${[...numbered, "", footer, ...notes].join("\n")}`,
    "</content>",
  ].join("\n");
  return {
    kind: "shown",
    sha256,
    range: lines.length === 0 ? undefined : [offset, lastLine],
    result: {
      output: {
        type: "ReadFile",
        FileContent: {
          content: text,
          absolute_path: path,
          offset: input.offset ?? null,
          limit: input.limit,
          raw_output: lines.join("\n"),
          total_lines: total,
          ...(isTotalEstimated && { total_lines_estimated: true }),
          ...(read.detected.encoding !== "utf-8" && { encoding: read.detected.encoding }),
          ...(read.detected.markBytes > 0 && { had_bom: true }),
        },
      },
      promptText: text,
      truncated: isMore,
    },
  };
}

/** The lines that fit together, each cut on its own; at least one. */
function withinBytes(lines: readonly string[]): { lines: string[]; isCapped: boolean } {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const head = cutToBytes(line, MAX_LINE_BYTES);
    const cut = head.length === line.length ? line : head + CUT_MARK;
    bytes += Buffer.byteLength(cut) + (shown.length > 0 ? 1 : 0);
    if (bytes > MAX_TEXT_BYTES && shown.length > 0) return { lines: shown, isCapped: true };
    shown.push(cut);
  }
  return { lines: shown, isCapped: false };
}

interface Shown {
  readonly offset: number;
  readonly lastLine: number;
  readonly total: number;
  readonly isMore: boolean;
  readonly isCapped: boolean;
  readonly isTotalEstimated: boolean;
}

function footerOf(shown: Shown, { parameterName }: ToolContext<unknown>): string {
  const { offset, lastLine, total, isMore, isCapped, isTotalEstimated } = shown;
  const about = isTotalEstimated ? "about " : "";
  if (!isMore) return `(end of file - total ${about}${total} lines)`;
  const range = `lines ${offset}-${lastLine} of ${about}${total}`;
  const next = `use ${parameterName("offset")}=${lastLine + 1} for the rest`;
  return isCapped ? `(cut at 50 KB: ${range}; ${next})` : `(${range}; ${next})`;
}
