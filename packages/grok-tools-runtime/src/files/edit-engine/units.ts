import { countLineFeeds } from "../count-line-feeds.ts";
import { asBuffer } from "../text-encoding.ts";
import { RareByteSearch } from "./rare-byte-search.ts";

/** A text that can be searched: a string, or {@link ByteUnits}. Parts of it are strings. */
export interface Units {
  readonly length: number;
  indexOf(part: string, from?: number): number;
  lastIndexOf(part: string, from?: number): number;
  slice(start: number, end?: number): string;
  charCodeAt(position: number): number;
  /** The whole text; of bytes a string has to be made. */
  toString(): string;
}

/** What is shorter, and smaller texts, are found as quickly without a second thought. */
const MIN_RARE_SEARCH = 3;
const MIN_RARE_SEARCH_BYTES = 16 * 1024;

/**
 * Bytes as a text with one character up to U+00FF for each. They are searched where they lie: most edits look at a file
 * as a whole only to find one place in it, and need no string as large as the file.
 */
export class ByteUnits implements Units {
  readonly #bytes: Buffer;
  #string: string | undefined;
  #search: RareByteSearch | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes);
  }

  get length(): number {
    return this.#bytes.length;
  }

  indexOf(part: string, from = 0): number {
    if (part.length < MIN_RARE_SEARCH || this.length - from < MIN_RARE_SEARCH_BYTES) {
      return this.#bytes.indexOf(part, from, "latin1");
    }
    this.#search ??= new RareByteSearch(this.#bytes);
    return this.#search.indexOf(part, from);
  }

  lastIndexOf(part: string, from: number = this.length): number {
    // A negative position counts from the end of a buffer, but is the beginning of a string.
    return this.#bytes.lastIndexOf(part, Math.max(0, from), "latin1");
  }

  slice(start: number, end?: number): string {
    return this.#bytes.subarray(start, end).toString("latin1");
  }

  charCodeAt(position: number): number {
    return this.#bytes[position] ?? Number.NaN;
  }

  toString(): string {
    this.#string ??= this.#bytes.toString("latin1");
    return this.#string;
  }

  /** Line feeds between two positions. */
  countFeeds(start: number, end: number): number {
    return countLineFeeds(this.#bytes.subarray(start, end));
  }
}

/** Line feeds between two positions. */
export function countFeeds(units: Units, start: number, end: number): number {
  if (units instanceof ByteUnits) return units.countFeeds(start, end);
  let count = 0;
  for (let at = units.indexOf("\n", start); at !== -1 && at < end; at = units.indexOf("\n", at + 1)) {
    count += 1;
  }
  return count;
}
