import { trim } from "../../../files/white-space.ts";
import type { SchemeParams } from "./scheme-params.ts";

const OFFSET = 2_166_136_261;
const PRIME = 16_777_619;

/** Anchors of lines that begin at the first line of a group: `LINE:LOCAL`, with `:CHUNK` in the scheme `chunk`. */
export function lineAnchors(lines: readonly string[], firstLine: number, params: SchemeParams): string[] {
  const hashes = lines.map(lineHash);
  const local = (hash: number): string => letters(hash, params.hash_len);
  if (params.scheme === "content_only") {
    return hashes.map((hash, index) => `${firstLine + index}:${local(hash)}`);
  }
  const anchors: string[] = [];
  for (let start = 0; start < hashes.length; start += params.chunk_size) {
    const group = hashes.slice(start, start + params.chunk_size);
    const chunk = local(chunkHash(group));
    for (const hash of group) anchors.push(`${firstLine + anchors.length}:${local(hash)}:${chunk}`);
  }
  return anchors;
}

/** The first line of the group a line is in. */
export function groupStart(line: number, { scheme, chunk_size: size }: SchemeParams): number {
  return scheme === "chunk" ? line - ((line - 1) % size) : line;
}

/** The line behind the group a line is in. */
export function groupEnd(line: number, params: SchemeParams): number {
  return params.scheme === "chunk" ? groupStart(line, params) + params.chunk_size : line + 1;
}

/** Blanks at the ends and the width of blanks between words do not count. */
function lineHash(line: string): number {
  return fnv(Buffer.from(trim(line).replaceAll(/[ \t\n\f\r]+/g, " ")));
}

function chunkHash(hashes: readonly number[]): number {
  return hashes.reduce((state, hash) => Math.imul(state ^ hash, PRIME) >>> 0, fnv(Buffer.from("chunk")));
}

/** FNV-1a, 32 bits. */
function fnv(bytes: Uint8Array): number {
  let hash = OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, PRIME) >>> 0;
  return hash;
}

function letters(hash: number, count: number): string {
  return Array.from({ length: count }, (_, index) =>
    String.fromCharCode(97 + ((hash >>> (8 * index)) % 26)),
  ).join("");
}
