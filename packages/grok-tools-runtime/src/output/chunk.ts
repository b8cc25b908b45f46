/** A slice of a text in UTF-8. */
export interface Chunk {
  readonly data: Uint8Array;
  /** Position of the first byte. */
  readonly offset: number;
}

/**
 * Cuts a text into slices of at most `maxBytes`, between characters; a character that is longer than that goes out
 * whole. An empty text has no slice.
 */
export function* chunkText(text: string, maxBytes: number): Generator<Chunk> {
  const bytes = new TextEncoder().encode(text);
  let offset = 0;
  while (offset < bytes.length) {
    const end = characterBorder(bytes, offset, offset + maxBytes);
    yield { data: bytes.subarray(offset, end), offset };
    offset = end;
  }
}

/** The last border between characters up to `limit`, or the first one after `start` when there is none before. */
function characterBorder(bytes: Uint8Array, start: number, limit: number): number {
  if (limit >= bytes.length) return bytes.length;
  let end = limit;
  while (end > start && isContinuation(bytes[end])) end--;
  if (end > start) return end;
  end = start + 1;
  while (end < bytes.length && isContinuation(bytes[end])) end++;
  return end;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
