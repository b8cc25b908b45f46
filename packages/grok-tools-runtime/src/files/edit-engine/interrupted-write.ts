import type { InPlaceWrite } from "./write-journal.ts";

/** Which content a write was putting into the file when it was interrupted. */
export type WriteDirection = "forward" | "back";

/** What the disk takes or loses as a whole when the power fails. */
const BLOCK_BYTES = 4096;

/**
 * Whether an interrupted write explains what a file holds: its start is what was being written and its rest what was
 * there, in each block by itself, since blocks reach the disk in any order. With either content as a whole the write
 * has not begun, or has ended.
 */
export function isInterrupted(now: Buffer, write: InPlaceWrite, direction: WriteDirection): boolean {
  const { before, after } = write;
  if (now.equals(before) || now.equals(after)) return false;
  if (!isPossibleLength(now.length, write, direction)) return false;
  // What the file grows by is written first.
  const grown =
    after.length > before.length ? Buffer.concat([before, after.subarray(before.length)]) : before;
  // Putting back begins with a file whose start may be new.
  const layers = direction === "forward" ? [after, grown] : [before, after, grown];
  for (let start = 0; start < now.length; start += BLOCK_BYTES) {
    const end = Math.min(start + BLOCK_BYTES, now.length);
    let at = start;
    for (const layer of layers) at = endOfSame(now, layer, { at, end });
    if (at < end) return false;
  }
  return true;
}

/** A file is cut in one step, and grows in many. */
function isPossibleLength(
  length: number,
  { before, after }: InPlaceWrite,
  direction: WriteDirection,
): boolean {
  if (length === before.length || length === after.length) return true;
  const [old, wanted] = direction === "forward" ? [before, after] : [after, before];
  const grows = wanted.length > old.length || direction === "back";
  return (
    grows && length > Math.min(before.length, after.length) && length < Math.max(before.length, after.length)
  );
}

/** Where two contents begin to differ. */
function endOfSame(one: Uint8Array, other: Uint8Array, { at, end }: { at: number; end: number }): number {
  const limit = Math.min(end, other.length);
  let position = at;
  while (position < limit && one[position] === other[position]) position += 1;
  return position;
}
