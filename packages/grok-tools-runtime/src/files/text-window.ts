import { allocateBytes, freeBytes } from "@trivium/core/node";
import { type LineIndex, type LineSource, readRange } from "./line-index.ts";
import { fill } from "./recent-part.ts";
import { type DetectedEncoding, decodeText } from "./text-encoding.ts";

/** Which lines of a file to read. */
export interface WindowRequest {
  /** First line from 1. Negative counts from the end, where -1 is the line behind the last line feed. */
  readonly offset: number;
  /** Infinity: to the end. */
  readonly maxLines: number;
  /** A window with more bytes is not read, or cut. */
  readonly maxBytes: number;
  /** Return the beginning of a window that has too many bytes. Default false. */
  readonly cutsAtMaxBytes?: boolean | undefined;
}

/** Lines of a file. */
export interface TextWindow {
  readonly kind: "window";
  /** 1-based number of the first line that was asked for, also when the window is empty. */
  readonly firstLine: number;
  /** Lines without their terminators; the last may be the empty one behind the last line feed. */
  readonly lines: readonly string[];
  /** The same as one text, as it is in the file. */
  readonly rawText: string;
  /** The window was cut at `maxBytes`, perhaps in the middle of a line. */
  readonly isCut: boolean;
}

/** A window that is not read because of its size. */
export interface OversizedWindow {
  readonly kind: "too-large";
  /** At least so many bytes. */
  readonly sizeBytes: number;
  readonly isSizeExact: boolean;
  /** The window is one line, so asking for fewer lines does not help. */
  readonly isOneLine: boolean;
}

/** An open text file. */
export interface TextSource extends LineSource {
  readonly index: LineIndex;
  readonly detected: DetectedEncoding;
}

/** Reads lines of a file. Memory is bounded by `maxBytes`, whatever the size of the file and of its lines. */
export async function readTextWindow(
  source: TextSource,
  { offset, maxLines, maxBytes, cutsAtMaxBytes = false }: WindowRequest,
): Promise<TextWindow | OversizedWindow> {
  const { index } = source;
  const firstLine = offset < 0 ? await lineFromEnd(source, offset) : Math.max(1, offset);
  const empty: TextWindow = { kind: "window", firstLine, lines: [], rawText: "", isCut: false };
  if (maxLines === 0 || index.totalLines === 0) return empty;
  const start = await index.offsetOf(firstLine, source);
  if (start === undefined) return empty;
  const stop = start + maxBytes + 1;
  const next = await index.offsetOf(firstLine + maxLines, source, stop);
  const end = next ?? index.sizeBytes;
  if (end - start > maxBytes && cutsAtMaxBytes) {
    const text = await readBeginning(source, start, maxBytes);
    return { ...empty, ...splitWindow(text, maxLines), isCut: true };
  }
  if (end - start > maxBytes) {
    const isSizeExact = next !== undefined || index.isComplete;
    const second = await index.offsetOf(firstLine + 1, source, stop);
    return {
      kind: "too-large",
      sizeBytes: isSizeExact ? end - start : maxBytes,
      isSizeExact,
      isOneLine: second === undefined || second - start > maxBytes,
    };
  }
  const text = await readDecoded(source, start, end);
  return { ...empty, ...splitWindow(text, maxLines) };
}

/** The memory of larger ranges is given back as soon as they are text. */
const LARGE_BYTES = 256 * 1024;

/** A byte range as text. */
async function readDecoded(source: TextSource, start: number, end: number): Promise<string> {
  const { encoding } = source.detected;
  if (end - start <= LARGE_BYTES) return decodeText(await readRange(source, start, end - start), encoding);
  const memory = allocateBytes(end - start);
  try {
    return decodeText(await fill(source.handle, start, memory), encoding);
  } finally {
    freeBytes(memory);
  }
}

/** The first bytes from `start`; a character cut in half is left out. */
async function readBeginning(source: TextSource, start: number, maxBytes: number): Promise<string> {
  const { encoding } = source.detected;
  const bytes = await readRange(source, start, encoding === "utf-8" ? maxBytes : maxBytes - (maxBytes % 2));
  // A streaming decoder keeps an unfinished character back.
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes, { stream: true });
}

/** A text in the file ends its lines with `\n` or `\r\n`; a lone `\r` belongs to the line. */
function splitWindow(rawText: string, maxLines: number): Pick<TextWindow, "lines" | "rawText"> {
  const fields = rawText.split("\n");
  const last = fields.pop() ?? "";
  const lines = fields.map((field) => (field.endsWith("\r") ? field.slice(0, -1) : field));
  if (lines.length < maxLines) lines.push(last);
  return { lines, rawText };
}

/** The line that a negative offset names; a text without a final line feed counts one line more. */
async function lineFromEnd(source: TextSource, offset: number): Promise<number> {
  const { index } = source;
  await index.complete(source);
  const endsWithFeed = index.totalLines === 0 || (await endsWithLineFeed(source));
  return Math.max(1, index.totalLines + (endsWithFeed ? 0 : 1) + offset + 1);
}

/** Whether the last character of a text that is not empty is a line feed. */
export async function endsWithLineFeed(source: TextSource): Promise<boolean> {
  const unitBytes = source.detected.encoding === "utf-8" ? 1 : 2;
  const tail = await readRange(source, source.index.sizeBytes - unitBytes, unitBytes);
  return decodeText(tail, source.detected.encoding) === "\n";
}
