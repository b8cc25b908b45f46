const LINE_FEEDS = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
const ONE_EACH = 0x01010101;
/** A lane of eight bits counts so far. */
const WORDS_PER_ROUND = 255;

/** Line feeds among bytes. Looks at four at a time: large files are counted as fast as they are read. */
export function countLineFeeds(bytes: Uint8Array): number {
  const unaligned = (4 - (bytes.byteOffset % 4)) % 4;
  if (bytes.length < unaligned + 4) return countOneByOne(bytes, 0, bytes.length);
  const wordCount = Math.floor((bytes.length - unaligned) / 4);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + unaligned, wordCount);
  let count = countOneByOne(bytes, 0, unaligned);
  for (let start = 0; start < wordCount; start += WORDS_PER_ROUND) {
    const end = Math.min(wordCount, start + WORDS_PER_ROUND);
    // Four counters in one number, one for each place of a byte in its word.
    let lanes = 0;
    for (let at = start; at < end; at += 1) {
      const difference = (words[at] ?? 0) ^ LINE_FEEDS;
      // The highest bit of each byte says whether the byte differs from a line feed.
      const differs = ((difference & LOW_BITS) + LOW_BITS) | difference;
      lanes = (lanes + ((~differs >>> 7) & ONE_EACH)) | 0;
    }
    count += (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24);
  }
  return count + countOneByOne(bytes, unaligned + wordCount * 4, bytes.length);
}

function countOneByOne(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at += 1) if (bytes[at] === 10) count += 1;
  return count;
}
