/** A slice of a text in UTF-8. */
export interface Chunk {
  readonly data: Uint8Array;
  /** Position of the first byte. */
  readonly offset: number;
}

const encoder = new TextEncoder();
/** Larger slices share two buffers. */
const MIN_SHARED_BYTES = 256 * 1024;
/** What one UTF-16 unit needs at most in UTF-8. */
const BYTES_PER_UNIT = 3;

/**
 * Cuts a text, which comes in pieces of whole characters, into slices of at most `maxBytes`, between characters; a
 * character that is longer than that goes out whole. An empty text has no slice.
 *
 * Each slice is encoded when it is asked for: besides the text there are two slices in memory, not the text once more.
 * Slices of 256 KiB and more are good until the second one after them is asked for, which lies in the same memory: a
 * stream has written the first before it takes another of that size.
 */
export function* chunkText(pieces: Iterable<string>, maxBytes: number): Generator<Chunk> {
  let offset = 0;
  /** Buffers of full slices, the older one first. */
  const used: Uint8Array<ArrayBuffer>[] = [];
  let buffer = new Uint8Array(0);
  let filled = 0;
  for (const piece of pieces) {
    let rest = piece;
    while (rest !== "") {
      buffer = withRoom(buffer, filled, { wanted: rest.length * BYTES_PER_UNIT, maxBytes });
      const { read, written } = encoder.encodeInto(rest, buffer.subarray(filled));
      filled += written;
      rest = rest.slice(read);
      if (rest === "") break;
      const first = filled === 0 ? firstCharacter(rest) : "";
      rest = rest.slice(first.length);
      const data = filled === 0 ? encoder.encode(first) : buffer.subarray(0, filled);
      yield { data, offset };
      offset += data.length;
      if (buffer.length === maxBytes && maxBytes >= MIN_SHARED_BYTES) used.push(buffer);
      buffer = (used.length > 1 ? used.shift() : undefined) ?? new Uint8Array(0);
      filled = 0;
    }
  }
  if (filled > 0) yield { data: buffer.subarray(0, filled), offset };
}

function withRoom(
  buffer: Uint8Array<ArrayBuffer>,
  filled: number,
  { wanted, maxBytes }: { wanted: number; maxBytes: number },
): Uint8Array<ArrayBuffer> {
  const needed = Math.min(maxBytes, filled + wanted);
  if (buffer.length >= needed) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(needed, buffer.length * 2)));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0);
}
