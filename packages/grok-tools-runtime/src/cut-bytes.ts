const encoder = new TextEncoder();

/** The longest beginning of a text that has at most so many bytes in UTF-8. Never half of a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  // A unit has at most three bytes, so a short text needs no counting.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
