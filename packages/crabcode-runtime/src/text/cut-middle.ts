/**
 * A text of at most `maxBytes` of UTF-8: head and tail stay, what is cut between them is counted in characters.
 *
 * @param maxBytes at least 128
 */
export function cutMiddle(text: string, maxBytes: number): string {
  // A UTF-16 unit is at most three bytes, so most texts need no count.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  // Room for the note between the parts.
  const half = Math.floor(maxBytes / 2) - 48;
  const headEnd = characterStart(bytes, half);
  const tailStart = characterStart(bytes, bytes.length - half);
  const cut = bytes.subarray(headEnd, tailStart);
  const note = `\n... [${characterCount(cut)} characters cut] ...\n`;
  return bytes.subarray(0, headEnd).toString() + note + bytes.subarray(tailStart).toString();
}

/** The next position that does not lie within a character. */
function characterStart(bytes: Uint8Array, position: number): number {
  let at = position;
  while (isContinuation(bytes[at])) at++;
  return at;
}

function characterCount(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (!isContinuation(byte)) count++;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
