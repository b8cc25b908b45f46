import { detectEncoding } from "./text-encoding.ts";

/** Bytes that decide what a file is. */
export const PROBE_BYTES = 8192;

const binaryExtensions: ReadonlySet<string> = new Set(
  (
    "7z avi avif bmp class dll doc docx dylib exe gif gz ico jar jpeg jpg mov mp3 mp4 odp ods odt " +
    "png ppt pyc pyd pyo qoi rar so tar tif tiff war wasm webp xls xlsx zip"
  ).split(" "),
);

/** Lower-cased extension without the dot; empty when there is none. */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/**
 * Whether a file is to be treated as binary: by its extension, a NUL byte, or many control characters in its first
 * 8 KiB. An empty file is text. UTF-16 is told by its byte order mark.
 */
export function isBinaryContent(extension: string, probe: Uint8Array): boolean {
  if (probe.length === 0) return false;
  if (binaryExtensions.has(extension)) return true;
  const { encoding, markBytes } = detectEncoding(probe);
  const units =
    encoding === "utf-8" ? probe : new Uint16Array(wideUnits(probe.subarray(markBytes), encoding));
  if (units.length === 0) return false;
  let controls = 0;
  for (const unit of units) {
    if (unit === 0) return true;
    if (unit < 9 || (unit > 13 && unit < 32)) controls += 1;
  }
  return controls / units.length > 0.3;
}

function wideUnits(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const units: number[] = [];
  for (let at = 0; at + 1 < bytes.length; at += 2) units.push(view.getUint16(at, encoding === "utf-16le"));
  return units;
}

/** MIME type of an image by its first bytes; undefined for everything else. */
export function imageTypeOf(probe: Uint8Array): string | undefined {
  return signatures.find(({ parts }) =>
    parts.every(([at, ...bytes]) => bytes.every((byte, index) => probe[at + index] === byte)),
  )?.mimeType;
}

/** A place in the file and the bytes there. */
type SignaturePart = readonly [offset: number, ...bytes: number[]];

const RIFF: SignaturePart = [0, 0x52, 0x49, 0x46, 0x46];
const FTYP: SignaturePart = [4, 0x66, 0x74, 0x79, 0x70];

const signatures: readonly { mimeType: string; parts: readonly SignaturePart[] }[] = [
  { mimeType: "image/png", parts: [[0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]] },
  { mimeType: "image/jpeg", parts: [[0, 0xff, 0xd8, 0xff]] },
  { mimeType: "image/gif", parts: [[0, 0x47, 0x49, 0x46, 0x38]] },
  { mimeType: "image/webp", parts: [RIFF, [8, 0x57, 0x45, 0x42, 0x50]] },
  {
    mimeType: "image/bmp",
    parts: [
      [0, 0x42, 0x4d],
      [6, 0, 0, 0, 0],
    ],
  },
  { mimeType: "image/tiff", parts: [[0, 0x49, 0x49, 0x2a, 0x00]] },
  { mimeType: "image/tiff", parts: [[0, 0x4d, 0x4d, 0x00, 0x2a]] },
  { mimeType: "image/x-icon", parts: [[0, 0x00, 0x00, 0x01, 0x00]] },
  { mimeType: "image/avif", parts: [FTYP, [8, 0x61, 0x76, 0x69, 0x66]] },
];
