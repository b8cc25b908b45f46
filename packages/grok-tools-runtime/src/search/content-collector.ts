import type { FileLines, FoundLine } from "./matching-lines.ts";
import type { LinesEvent } from "./ripgrep-events.ts";

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

interface GrowingFile {
  readonly path: string;
  readonly lines: FoundLine[];
  readonly offsets: number[];
  isBinary: boolean;
}

/** Collects lines file by file until there are more than can be shown. */
export class ContentCollector {
  readonly #limits: ContentLimits;
  readonly #files: GrowingFile[] = [];
  #listedLines = 0;
  #matchCount = 0;

  constructor(limits: ContentLimits) {
    this.#limits = limits;
  }

  /** Files with lines to show, in the order they came. */
  get files(): readonly FileLines[] {
    return this.#files.filter(({ lines }) => lines.length > 0);
  }

  get isFull(): boolean {
    return this.#listedLines > this.#limits.maxListedLines || this.#matchCount > this.#limits.maxMatches;
  }

  /** The next lines are of this file. */
  begin(path: string): void {
    this.#files.push({ path, lines: [], offsets: [], isBinary: false });
  }

  /** What is behind a NUL byte is no text. */
  end(binaryOffset: number | undefined): void {
    const file = this.#files.at(-1);
    if (file === undefined || binaryOffset === undefined) return;
    file.isBinary = true;
    const kept = file.offsets.filter((offset) => offset < binaryOffset).length;
    file.lines.length = kept;
    file.offsets.length = kept;
  }

  add({ kind, lineNumber, byteOffset, text }: LinesEvent): void {
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
