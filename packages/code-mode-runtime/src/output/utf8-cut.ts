/** The longest prefix of whole characters within `maxBytes` bytes of UTF-8. */
export function utf8Prefix(text: string, maxBytes: number): string {
  // No character takes less than a byte, so more code units than bytes never fit.
  const bytes = Buffer.from(text.slice(0, maxBytes));
  if (bytes.length <= maxBytes) return bytes.toString();
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes, end)) end--;
  return bytes.toString("utf8", 0, end);
}

/** The suffix that begins at the first character whose offset leaves at most `maxBytes` bytes of UTF-8. */
export function utf8Suffix(text: string, maxBytes: number): string {
  if (maxBytes <= 0) return "";
  const bytes = Buffer.from(text.slice(-maxBytes));
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && isContinuation(bytes, start)) start++;
  return bytes.toString("utf8", start);
}

function isContinuation(bytes: Uint8Array, index: number): boolean {
  return ((bytes[index] ?? 0) & 0xc0) === 0x80;
}
