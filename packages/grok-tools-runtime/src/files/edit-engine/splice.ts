import { createHash } from "node:crypto";
import { type EditableText, toByteOffset, unitsToBytes } from "./editable-text.ts";
import type { Span } from "./find-matches.ts";

/** A changed place: byte range in the old file, end in the new one. */
export type ChangedBytes = readonly [start: number, end: number, newEnd: number];

/** One span and the units that take its place. */
export interface Replacement {
  readonly span: Span;
  readonly units: string;
}

/** New content of a file and where it differs. */
export interface SplicedContent {
  readonly bytes: Buffer;
  readonly spans: readonly ChangedBytes[];
}

/** Replaces spans, ascending and not overlapping; every byte outside them is copied as it is. */
export function spliceText(text: EditableText, replacements: readonly Replacement[]): SplicedContent {
  const parts: Uint8Array[] = [];
  const spans: ChangedBytes[] = [];
  let copied = 0;
  let length = 0;
  for (const { span, units } of replacements) {
    const start = toByteOffset(span.start, text);
    const end = toByteOffset(span.end, text);
    const inserted = unitsToBytes(units, text);
    parts.push(text.bytes.subarray(copied, start), inserted);
    length += start - copied + inserted.length;
    spans.push([start, end, length]);
    copied = end;
  }
  parts.push(text.bytes.subarray(copied));
  return { bytes: Buffer.concat(parts), spans };
}

/** Which line endings a text has. */
export type LineEndings = "lf" | "crlf" | "mixed" | "none";

/** Counts `\n` and `\r\n` of a text; a lone `\r` is an ordinary character. */
export function lineEndingsOf({ units }: Pick<EditableText, "units">): LineEndings {
  let hasLf = false;
  let hasCrlf = false;
  for (let at = units.indexOf("\n"); at !== -1 && !(hasLf && hasCrlf); at = units.indexOf("\n", at + 1)) {
    if (units[at - 1] === "\r") hasCrlf = true;
    else hasLf = true;
  }
  if (hasLf && hasCrlf) return "mixed";
  if (hasCrlf) return "crlf";
  return hasLf ? "lf" : "none";
}

/** SHA-256 in lower-case hexadecimal. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
