import { LineSplitter } from "./line-splitter.ts";
import type { FileLines, FoundLine } from "./matching-lines.ts";
import { type LinesEvent, parseRipgrepEvent } from "./ripgrep-events.ts";
import type { OutputReader } from "./run-ripgrep.ts";

/** When to stop reading. */
export interface ContentLimits {
  /** Lines of the listing: a heading for each file, its lines, separators between groups and between files. */
  readonly maxListedLines: number;
  readonly maxMatches: number;
  /** Characters kept of each line. */
  readonly maxLineChars: number;
  /** Lines around matches were asked for, so that groups are separated. */
  readonly hasContext: boolean;
}

/** Output read in one run; more means that lines are extremely long. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

interface GrowingFile {
  readonly path: string;
  readonly lines: FoundLine[];
  readonly offsets: number[];
  isBinary: boolean;
}

/** Collects the messages of `rg --json` until there is more than can be shown. */
export class ContentReader implements OutputReader {
  readonly #limits: ContentLimits;
  readonly #splitter = new LineSplitter();
  readonly #files: GrowingFile[] = [];
  #listedLines = 0;
  #matchCount = 0;
  #readBytes = 0;

  constructor(limits: ContentLimits) {
    this.#limits = limits;
  }

  /** Files with lines to show, in the order they came. */
  get files(): readonly FileLines[] {
    return this.#files.filter(({ lines }) => lines.length > 0);
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
      if (event.kind === "begin") this.#begin(event.path);
      else if (event.kind === "end") this.#end(event.binaryOffset);
      else this.#add(event);
      if (this.#isFull) return false;
    }
    return this.#readBytes <= MAX_OUTPUT_BYTES;
  }

  get #isFull(): boolean {
    return this.#listedLines > this.#limits.maxListedLines || this.#matchCount > this.#limits.maxMatches;
  }

  #begin(path: string): void {
    this.#files.push({ path: path.replace(/^\.\//, ""), lines: [], offsets: [], isBinary: false });
  }

  /** What is behind a NUL byte is no text. */
  #end(binaryOffset: number | undefined): void {
    const file = this.#files.at(-1);
    if (file === undefined || binaryOffset === undefined) return;
    file.isBinary = true;
    const kept = file.offsets.filter((offset) => offset < binaryOffset).length;
    file.lines.length = kept;
    file.offsets.length = kept;
  }

  #add({ kind, lineNumber, byteOffset, text }: LinesEvent): void {
    const file = this.#files.at(-1);
    if (file === undefined) return;
    const parts = text.split("\n");
    // The line feed at the end begins no further line.
    if (parts.at(-1) === "") parts.pop();
    let offset = byteOffset;
    for (const [index, part] of parts.entries()) {
      this.#addLine(
        file,
        { kind, number: lineNumber + index, ...this.#cut(part.replace(/\r$/, "")) },
        offset,
      );
      offset += Buffer.byteLength(part) + 1;
    }
  }

  #addLine(file: GrowingFile, line: FoundLine, offset: number): void {
    const previous = file.lines.at(-1);
    const beginsGroup =
      this.#limits.hasContext && previous !== undefined && line.number > previous.number + 1;
    // A heading, and a blank line before it unless it is the first.
    if (previous === undefined) this.#listedLines += this.#listedLines === 0 ? 1 : 2;
    this.#listedLines += beginsGroup ? 2 : 1;
    if (line.kind === "match") this.#matchCount += 1;
    file.lines.push(line);
    file.offsets.push(offset);
  }

  #cut(text: string): Pick<FoundLine, "text" | "charCount"> {
    const { maxLineChars } = this.#limits;
    if (text.length <= maxLineChars) return { text, charCount: countCharacters(text) };
    return { text: firstCharacters(text, maxLineChars), charCount: countCharacters(text) };
  }
}

function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    // The second half of a pair belongs to the character before.
    const unit = text.charCodeAt(at);
    if (unit >= 0xdc00 && unit <= 0xdfff) count -= 1;
  }
  return count;
}

/** The first characters of a text; never half of a surrogate pair. */
export function firstCharacters(text: string, count: number): string {
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left -= 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
