/** How the text of a file is stored. Only a byte order mark makes a file UTF-16. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be";

/** Encoding of a file and the length of its byte order mark. */
export interface DetectedEncoding {
  readonly encoding: TextEncoding;
  /** 0 without a byte order mark, else 2 or 3. */
  readonly markBytes: number;
}

/** Reads the encoding off the first bytes of a file. Without a byte order mark it is UTF-8. */
export function detectEncoding(bytes: Uint8Array): DetectedEncoding {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: "utf-8", markBytes: 3 };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: "utf-16le", markBytes: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: "utf-16be", markBytes: 2 };
  return { encoding: "utf-8", markBytes: 0 };
}

/** Decodes bytes without a byte order mark. What is not valid becomes U+FFFD. */
export function decodeText(bytes: Uint8Array, encoding: TextEncoding): string {
  // `ignoreBOM` keeps a mark that stands in the middle of a file.
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

/** The text of a whole file in its own encoding, without the byte order mark. */
export function decodeFile(bytes: Uint8Array): string {
  const { encoding, markBytes } = detectEncoding(bytes);
  return decodeText(bytes.subarray(markBytes), encoding);
}

/** View of the same memory as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
