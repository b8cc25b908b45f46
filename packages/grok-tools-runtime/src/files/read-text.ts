import { createHash } from "node:crypto";
import { LineIndex, readRange } from "./line-index.ts";
import type { LineIndexCache } from "./line-index-cache.ts";
import type { OpenFile } from "./open-file.ts";
import { type DetectedEncoding, detectEncoding } from "./text-encoding.ts";
import {
  endsWithLineFeed,
  type OversizedWindow,
  readTextWindow,
  type TextWindow,
  type WindowRequest,
} from "./text-window.ts";

/** Files up to this size are read to the end: their lines are counted and their content is hashed. */
export const COUNTED_BYTES: number = 16 * 1024 * 1024;

/** A text to read from an open file. */
export interface ReadTextRequest extends WindowRequest {
  /** Key of the file in the cache: its real path. */
  readonly path: string;
  readonly indexes: LineIndexCache;
  readonly signal: AbortSignal;
}

/** Lines of a text file and what is known of the file. */
export interface ReadText {
  readonly window: TextWindow | OversizedWindow;
  readonly detected: DetectedEncoding;
  /** Line feeds plus one; 0 for an empty file. */
  readonly totalLines: number;
  /** The file is large and was not read to its end. */
  readonly isTotalEstimated: boolean;
  /** The text ends with a line feed, so that its last line is empty. False when that is not known. */
  readonly endsWithLineFeed: boolean;
  /** Of the whole content, hexadecimal; undefined for a file above {@link COUNTED_BYTES}. */
  readonly sha256: string | undefined;
}

/**
 * Reads lines of an open text file. Memory grows neither with the file nor with its lines; a large file is read only
 * as far as the window needs, so that its number of lines may be an estimate.
 */
export async function readText(file: OpenFile, request: ReadTextRequest): Promise<ReadText> {
  const { handle, recent, sizeBytes } = file;
  const { path, indexes, signal } = request;
  const mark = await readRange(file, 0, Math.min(3, sizeBytes));
  const detected = detectEncoding(mark);
  const source = { handle, recent, signal };
  const isLarge = sizeBytes > COUNTED_BYTES;
  const index = isLarge ? indexes.indexOf(path, file.stats, detected) : new LineIndex(sizeBytes, detected);
  const hash = createHash("sha256").update(mark.subarray(0, detected.markBytes));
  if (!isLarge) await index.complete(source, (chunk) => void hash.update(chunk));
  const text = { ...source, index, detected };
  const window = await readTextWindow(text, request);
  return {
    window,
    detected,
    totalLines: index.totalLines,
    isTotalEstimated: !index.isComplete,
    endsWithLineFeed: index.isComplete && index.totalLines > 0 && (await endsWithLineFeed(text)),
    sha256: isLarge ? undefined : hash.digest("hex"),
  };
}
