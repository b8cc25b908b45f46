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
  /** The new text in units, without the byte order mark. */
  readonly units: string;
  readonly spans: readonly ChangedBytes[];
}

/** Replaces spans, ascending and not overlapping; everything outside them stays byte for byte. */
export function spliceText(text: EditableText, replacements: readonly Replacement[]): SplicedContent {
  const parts: string[] = [];
  const spans: ChangedBytes[] = [];
  let copied = 0;
  let length = 0;
  for (const { span, units } of replacements) {
    parts.push(text.units.slice(copied, span.start), units);
    length += span.start - copied + units.length;
    spans.push([toByteOffset(span.start, text), toByteOffset(span.end, text), toByteOffset(length, text)]);
    copied = span.end;
  }
  parts.push(text.units.slice(copied));
  const units = parts.join("");
  const mark = text.bytes.subarray(0, text.markBytes);
  // Half a unit at the end of a UTF-16 file.
  const rest = text.bytes.subarray(toByteOffset(text.units.length, text));
  return { bytes: Buffer.concat([mark, unitsToBytes(units, text), rest]), units, spans };
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
