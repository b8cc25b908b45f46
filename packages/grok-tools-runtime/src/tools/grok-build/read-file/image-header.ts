/** Size of a picture, when its file is structurally complete. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of a PNG, JPEG, WebP or GIF picture. Undefined for other formats, and for a file that is cut off or
 * damaged as far as its structure shows.
 */
export function imageSizeOf(bytes: Buffer, mimeType: string): ImageSize | undefined {
  switch (mimeType) {
    case "image/png":
      return pngSize(bytes);
    case "image/jpeg":
      return jpegSize(bytes);
    case "image/webp":
      return webpSize(bytes);
    case "image/gif":
      return gifSize(bytes);
    default:
      return undefined;
  }
}

/** PNG specification 5.3: chunks of length, type, data, checksum; IHDR first, IEND last. */
function pngSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 33 || bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  let at = 8;
  while (at + 12 <= bytes.length) {
    const next = at + 12 + bytes.readUInt32BE(at);
    if (bytes.toString("latin1", at + 4, at + 8) === "IEND" && next <= bytes.length) {
      return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    }
    at = next;
  }
  return undefined;
}

/** JPEG, ITU-T T.81 annex B: segments up to the frame header, and an end-of-image marker. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) === -1) return undefined;
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** RFC 9649: a RIFF container whose first chunk is VP8, VP8L or VP8X. */
function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

function gifSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 14 || bytes.at(-1) !== 0x3b) return undefined;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}
