import { ContentCollector, type ContentLimits } from "./content-collector.ts";
import type { PathFilter } from "./glob-filter.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { FileLines } from "./matching-lines.ts";
import { parseRipgrepEvent } from "./ripgrep-events.ts";
import type { OutputReader } from "./run-ripgrep.ts";

/** Output read in one run; more means that lines are extremely long. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Reads the messages of `rg --json`. */
export class ContentReader implements OutputReader {
  readonly #splitter = new LineSplitter();
  readonly #collector: ContentCollector;
  readonly #accepts: PathFilter;
  #readBytes = 0;
  #isWanted = true;

  /** @param accepts which files count; the others are skipped */
  constructor(limits: ContentLimits, accepts: PathFilter = () => true) {
    this.#collector = new ContentCollector(limits);
    this.#accepts = accepts;
  }

  /** Files with lines to show, in the order they came. */
  get files(): readonly FileLines[] {
    return this.#collector.files;
  }

  /** Matching lines that were too long to be read at all. */
  get skippedCount(): number {
    return this.#splitter.skippedCount;
  }

  push(chunk: Uint8Array): boolean {
    this.#readBytes += chunk.length;
    for (const line of this.#splitter.split(chunk)) {
      const event = parseRipgrepEvent(line);
      if (event === undefined) continue;
      if (event.kind === "begin") this.#begin(event.path?.replace(/^\.\//, ""));
      else if (!this.#isWanted) continue;
      else if (event.kind === "end") this.#collector.end(event.binaryOffset);
      else this.#collector.add(event);
      if (this.#collector.isFull) return false;
    }
    return this.#readBytes <= MAX_OUTPUT_BYTES;
  }

  #begin(path: string | undefined): void {
    this.#isWanted = path !== undefined && this.#accepts(path);
    if (path !== undefined && this.#isWanted) this.#collector.begin(path);
  }
}
