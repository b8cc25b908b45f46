const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** The longest prefix of whole characters within `maxBytes` bytes of UTF-8. */
export function utf8Prefix(text: string, maxBytes: number): string {
  // No character takes less than a byte, so more code units than bytes never fit.
  const bytes = encoder.encode(text.slice(0, maxBytes));
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && end < bytes.length && isContinuation(bytes[end])) end--;
  return decoder.decode(bytes.subarray(0, end));
}

/** The suffix that begins at the first character whose offset leaves at most `maxBytes` bytes of UTF-8. */
export function utf8Suffix(text: string, maxBytes: number): string {
  if (maxBytes <= 0) return "";
  const bytes = encoder.encode(text.slice(-maxBytes));
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return decoder.decode(bytes.subarray(start));
}

function isContinuation(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}
