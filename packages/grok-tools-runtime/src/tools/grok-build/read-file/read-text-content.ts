import { basename, extname, normalize, sep } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { lineIndexCache } from "../../../files/line-index-cache.ts";
import type { OpenFile } from "../../../files/open-file.ts";
import { type ReadText, readText } from "../../../files/read-text.ts";
import type { OversizedWindow, TextWindow } from "../../../files/text-window.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { type ExtractedImage, extractAttachments } from "./inline-attachments.ts";
import { numberLines } from "./number-lines.ts";
import type { ReadFailure } from "./read-failure.ts";

/** Largest text that is returned, in estimated tokens of four bytes. */
const MAX_TOKENS = 25_000;
/** Bytes a window may have: embedded images are taken out of the text before its tokens count. */
const MAX_WINDOW_BYTES = 16 * 1024 * 1024;

/** A text file to show. */
export interface TextTarget {
  /** Real path. */
  readonly path: string;
  readonly file: OpenFile;
  readonly offset: number | undefined;
  readonly limit: number | undefined;
}

/** What was read, with the lines and the hash for the read tracker. */
export interface TextContent {
  readonly kind: "content";
  readonly result: ToolResult;
  readonly sha256: string | undefined;
  /** Lines shown; undefined when there are none. */
  readonly range: readonly [firstLine: number, lastLine: number] | undefined;
}

/** How the lines of a text are shown. */
export interface TextStyle {
  /** Puts anchors on lines. `linesOf` gives whole lines of the file, also of those that are not shown. */
  show(shown: ShownLines, linesOf: LinesOf): string | Promise<string>;
  /** The content has a twin for concise output. */
  readonly hasConciseTwin: boolean;
}

/** Lines to show, without what was embedded in them. */
export interface ShownLines {
  readonly lines: readonly string[];
  readonly firstLine: number;
}

/** Lines of the file as they are in it, fewer at the end. */
export type LinesOf = (firstLine: number, count: number) => Promise<readonly string[]>;

/** A number on the first line and on every tenth. */
export const numberedText: TextStyle = {
  show: ({ lines, firstLine }) => numberLines(lines, firstLine),
  hasConciseTwin: true,
};

/** Reads lines of a text file and puts them into the words of the tool. */
export async function readTextContent(
  target: TextTarget,
  context: ToolContext<unknown>,
  style: TextStyle,
): Promise<TextContent | ReadFailure> {
  const { path, file } = target;
  const isUncapped = isSkillDocument(path);
  const { offset, limit = Infinity } = isUncapped ? {} : target;
  const cap = isUncapped ? Infinity : context.limits.maxLinesRead;
  const source = { path, indexes: context.resource(lineIndexCache), signal: context.signal };
  const maxBytes = MAX_WINDOW_BYTES;
  const read = await readText(file, {
    ...source,
    offset: offset ?? 1,
    maxLines: Math.min(limit, cap),
    maxBytes,
  });
  const { window } = read;
  if (window.kind === "too-large") return tooLarge(tokensOf(window.sizeBytes), window, context);
  const images: ExtractedImage[] = [];
  const lines = window.lines.map((line) => extractAttachments(line, images));
  const linesOf: LinesOf = async (firstLine, count) => {
    const request = { ...source, offset: firstLine, maxLines: count, maxBytes, cutsAtMaxBytes: true };
    const { window: other } = await readText(file, request);
    return other.kind === "window" ? other.lines : [];
  };
  const content = await style.show({ lines, firstLine: window.firstLine }, linesOf);
  const tokens = tokensOf(Buffer.byteLength(content));
  if (!isUncapped && tokens > MAX_TOKENS) {
    return tooLarge(tokens, { isSizeExact: true, isOneLine: lines.length === 1 }, context);
  }
  const lastLine = window.firstLine + lines.length - 1;
  const isCut = limit > cap && lines.length === cap && lastLine < read.totalLines;
  const payload = {
    content,
    ...(read.totalLines > 0 && style.hasConciseTwin && { content_concise: content }),
    absolute_path: path,
    offset: offset === undefined || offset < 0 ? null : offset,
    ...(limit !== Infinity && { limit }),
    raw_output: rawOutputOf(read, window),
    total_lines: read.totalLines,
    ...(images.length > 0 && { extracted_images: images.map((image) => ({ ...image })) }),
    ...(read.isTotalEstimated && { total_lines_estimated: true }),
    ...(read.detected.encoding !== "utf-8" && { encoding: read.detected.encoding }),
    ...(read.detected.markBytes > 0 && { had_bom: true }),
  };
  const total = `${read.isTotalEstimated ? "about " : ""}${read.totalLines}`;
  const text = content === "" ? emptyNotice(read, offset ?? 1) : content;
  return {
    kind: "content",
    result: {
      output: { type: "ReadFile", FileContent: payload },
      promptText: isCut ? `${text}\n[showing lines ${window.firstLine}-${lastLine} of ${total}]` : text,
      truncated: isCut,
      imageCount: images.length,
    },
    sha256: read.sha256,
    range: lines.length === 0 ? undefined : [window.firstLine, lastLine],
  };
}

/** Skill documents are always shown whole. */
function isSkillDocument(path: string): boolean {
  if (basename(path) === "SKILL.md") return true;
  return extname(path).toLowerCase() === ".md" && normalize(path).split(sep).includes("skills");
}

function tokensOf(sizeBytes: number): number {
  return Math.floor(sizeBytes / 4);
}

/** The slice of the file; only a final `\r\n` is shortened. A UTF-8 byte order mark is part of the first line. */
function rawOutputOf({ detected }: ReadText, { rawText, firstLine, lines }: TextWindow): string {
  const hasMark =
    detected.encoding === "utf-8" && detected.markBytes > 0 && firstLine === 1 && lines.length > 0;
  return (hasMark ? "\ufeff" : "") + (rawText.endsWith("\r\n") ? `${rawText.slice(0, -2)}\n` : rawText);
}

function emptyNotice({ totalLines }: ReadText, offset: number): string {
  if (totalLines === 0) return "File is empty.";
  if (offset <= totalLines) return "(no lines returned)";
  return `(no lines returned: line ${offset} is past the end, the file has ${totalLines} lines)`;
}

function tooLarge(
  tokens: number,
  { isSizeExact, isOneLine }: Pick<OversizedWindow, "isSizeExact" | "isOneLine">,
  context: ToolContext<unknown>,
): ReadFailure {
  const size = `${isSizeExact ? "about" : "more than"} ${tokens} tokens`;
  const search = context.toolName("search");
  const execute = context.toolName("execute");
  const narrow = `use \`${context.parameterName("offset")}\` and \`${context.parameterName("limit")}\` to read fewer lines`;
  const steps = [
    ...(isOneLine && execute !== undefined
      ? [`this is one long line, so extract the part you need with ${execute}`]
      : [narrow]),
    ...(search === undefined ? [] : [`find the relevant part with ${search}`]),
  ];
  // The parameters are named in any case: a caller may have asked for the wrong line.
  const parameters = isOneLine && execute !== undefined ? ` (${narrow} when another line is meant)` : "";
  return {
    kind: "failure",
    variant: "FileTooLarge",
    code: ErrorCode.INVALID_INPUT,
    reason: "too_large",
    text: `Error: the text to return has ${size}, the maximum is ${MAX_TOKENS}. ${capitalised(steps.join(", or "))}${parameters}.`,
    suggestion: steps[0],
  };
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
