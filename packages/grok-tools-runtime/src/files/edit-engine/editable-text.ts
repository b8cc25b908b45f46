import { asBuffer, type DetectedEncoding, detectEncoding, type TextEncoding } from "../text-encoding.ts";
import { ByteUnits, type Units } from "./units.ts";

/**
 * A file as a text of *units* that maps one to one to its bytes.
 *
 * A unit is one byte of a UTF-8 file (as a character up to U+00FF) or one UTF-16 code unit. So searching is
 * string searching, every position is a byte position, and bytes that are no valid text are kept as they are.
 */
export interface EditableText {
  readonly encoding: TextEncoding;
  /** Bytes of the byte order mark; they are not part of `units`. */
  readonly markBytes: number;
  readonly unitBytes: 1 | 2;
  readonly units: Units;
  readonly bytes: Buffer;
}

const BINARY_PROBE_BYTES = 8192;

/** Undefined for a binary file: NUL in the first 8 KiB without a UTF-16 byte order mark. */
export function parseEditableText(content: Uint8Array): EditableText | undefined {
  const bytes = asBuffer(content);
  const { encoding, markBytes } = detectEncoding(bytes);
  if (encoding === "utf-8" && bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return undefined;
  const units = unitsOf(bytes, { encoding, markBytes });
  return { encoding, markBytes, unitBytes: encoding === "utf-8" ? 1 : 2, units, bytes };
}

/** The units of a file that is text. */
export function unitsOf(bytes: Buffer, { encoding, markBytes }: DetectedEncoding): Units {
  if (encoding === "utf-8") return new ByteUnits(bytes.subarray(markBytes));
  // An odd last byte is no unit; it stays behind the last span.
  const body = bytes.subarray(markBytes, bytes.length - (bytes.length % 2));
  const ordered = encoding === "utf-16le" ? body : Buffer.from(body).swap16();
  return ordered.toString("utf16le");
}

/** Ordinary text as units of the encoding. The text must be well-formed. */
export function toUnits(text: string, { encoding }: Pick<EditableText, "encoding">): string {
  return encoding === "utf-8" ? Buffer.from(text, "utf8").toString("latin1") : text;
}

/** Units as ordinary text; what is not valid becomes U+FFFD. */
export function fromUnits(units: string, { encoding }: Pick<EditableText, "encoding">): string {
  return encoding === "utf-8" ? Buffer.from(units, "latin1").toString("utf8") : units.toWellFormed();
}

/** The bytes of units in the file's encoding and byte order. */
export function unitsToBytes(units: string, { encoding }: Pick<EditableText, "encoding">): Buffer {
  if (encoding === "utf-8") return Buffer.from(units, "latin1");
  const bytes = Buffer.from(units, "utf16le");
  return encoding === "utf-16le" ? bytes : bytes.swap16();
}

/** Byte offset in the file of a unit position. */
export function toByteOffset(position: number, text: EditableText): number {
  return text.markBytes + position * text.unitBytes;
}
