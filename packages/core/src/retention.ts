import type { Retention } from "./event-log.ts";

/** What pruning needs to know of an entry. */
export interface StoredSize {
  readonly seq: number;
  readonly atMs: number;
  readonly bytes: number;
}

/** Numbers of the entries that stay, given all of them in order. Pinned ones stay besides the limits. */
export function retainedFrom(entries: readonly StoredSize[], retention: Retention, nowMs: number): number[] {
  const { maxEvents = Infinity, maxBytes = Infinity, maxAgeMs = Infinity, keepSeqs = [] } = retention;
  const pinned = new Set(keepSeqs);
  const kept: number[] = [];
  let count = 0;
  let bytes = 0;
  let isFull = false;
  for (const entry of entries.toReversed()) {
    count += 1;
    bytes += entry.bytes;
    // Whole suffixes only: once an entry does not fit, no older one is kept in its place.
    isFull ||= count > maxEvents || bytes > maxBytes || nowMs - entry.atMs > maxAgeMs;
    if (!isFull || pinned.has(entry.seq)) kept.push(entry.seq);
  }
  return kept.reverse();
}
