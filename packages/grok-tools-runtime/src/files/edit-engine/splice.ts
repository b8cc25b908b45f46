import { createHash } from "node:crypto";
import { allocateBytes } from "@trivium/core/node";
import { type EditableText, toByteOffset, unitsOf, unitsToBytes } from "./editable-text.ts";
import type { Span } from "./find-matches.ts";
import type { Units } from "./units.ts";

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
  readonly units: Units;
  readonly spans: readonly ChangedBytes[];
}

/** Replaces spans, ascending and not overlapping; everything outside them stays byte for byte. */
export function spliceText(text: EditableText, replacements: readonly Replacement[]): SplicedContent {
  const spans: ChangedBytes[] = [];
  const bytes = allocateBytes(text.bytes.length + grownUnits(replacements) * text.unitBytes);
  let copied = 0;
  let copiedBytes = 0;
  let length = 0;
  let filled = 0;
  for (const { span, units } of replacements) {
    length += span.start - copied + units.length;
    const start = toByteOffset(span.start, text);
    const end = toByteOffset(span.end, text);
    filled += text.bytes.copy(bytes, filled, copiedBytes, start);
    filled += unitsToBytes(units, text).copy(bytes, filled);
    spans.push([start, end, toByteOffset(length, text)]);
    copied = span.end;
    copiedBytes = end;
  }
  // With half a unit that may stand at the end of a UTF-16 file.
  text.bytes.copy(bytes, filled, copiedBytes);
  return { bytes, units: unitsOf(bytes, text), spans };
}

function grownUnits(replacements: readonly Replacement[]): number {
  return replacements.reduce((sum, { span, units }) => sum + units.length - (span.end - span.start), 0);
}

/** Which line endings a text has. */
export type LineEndings = "lf" | "crlf" | "mixed" | "none";

/** Looks for `\n` and `\r\n` in a text; a lone `\r` is an ordinary character. */
export function lineEndingsOf({ units }: Pick<EditableText, "units">): LineEndings {
  const feed = units.indexOf("\n");
  if (feed === -1) return "none";
  // The two searches go through the text once each, whatever its lines.
  const pair = units.indexOf("\r\n");
  if (pair === -1) return "lf";
  if (feed < pair) return "mixed";
  for (let at = feed; at !== -1; at = units.indexOf("\n", at + 1)) {
    if (units.charCodeAt(at - 1) !== 13) return "mixed";
  }
  return "crlf";
}

/** SHA-256 in lower-case hexadecimal. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
