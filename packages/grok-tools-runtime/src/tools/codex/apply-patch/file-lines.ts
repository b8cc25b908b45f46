import { isUtf8 } from "node:buffer";
import { TriviumError } from "@trivium/core";
import { type EditableText, fromUnits } from "../../../files/edit-engine/editable-text.ts";

/** Each line costs memory several times; no file that a patch is for has as many. */
const MAX_LINES = 4_000_000;

/** What ends a line; only the last line of a file may have nothing. */
export type Terminator = "\n" | "\r\n" | "";

/** The lines of a text with their own terminators. A line feed at the end begins no further line. */
export class FileLines {
  readonly text: EditableText;
  readonly count: number;
  readonly #units: string;
  /** Where each line starts, in units, and the end of the text. */
  readonly #starts: Uint32Array;

  /** @throws {@link TriviumError} `outOfRange` for more lines than can be held. */
  constructor(text: EditableText) {
    const units = text.units.toString();
    const feeds = countFeeds(units);
    this.text = text;
    this.#units = units;
    this.count = feeds + (units === "" || units.endsWith("\n") ? 0 : 1);
    if (this.count > MAX_LINES) {
      throw new TriviumError("outOfRange", `the file has more than ${MAX_LINES} lines`);
    }
    this.#starts = new Uint32Array(this.count + 1);
    let start = 0;
    for (let line = 1; line <= this.count; line += 1) {
      const feed = units.indexOf("\n", start);
      start = feed === -1 ? units.length : feed + 1;
      this.#starts[line] = start;
    }
  }

  /** Start of a line in units; of the line behind the last one: the end of the text. */
  startOf(line: number): number {
    return this.#starts[line] ?? this.#units.length;
  }

  terminatorOf(line: number): Terminator {
    const end = this.startOf(line + 1);
    const units = this.#units;
    if (end === this.startOf(line) || units[end - 1] !== "\n") return "";
    return end - 1 > this.startOf(line) && units[end - 2] === "\r" ? "\r\n" : "\n";
  }

  /** A line as text, without its terminator. Undefined when its bytes are no valid text. */
  textOf(line: number): string | undefined {
    const end = this.startOf(line + 1) - this.terminatorOf(line).length;
    const units = this.#units.slice(this.startOf(line), end);
    if (this.text.encoding === "utf-8") {
      if (!hasHighByte.test(units)) return units;
      return isUtf8(Buffer.from(units, "latin1")) ? fromUnits(units, this.text) : undefined;
    }
    return units.isWellFormed() ? units : undefined;
  }

  /** The terminator of the line nearest to a gap between lines; `\n` in a file without any. */
  terminatorNear(gap: number): Terminator {
    // Only the last line can be without one, so the three next to the gap decide.
    for (const line of [gap - 1, gap, gap - 2]) {
      const terminator = line >= 0 && line < this.count ? this.terminatorOf(line) : "";
      if (terminator !== "") return terminator;
    }
    return "\n";
  }
}

const hasHighByte = /[\x80-\xff]/;

function countFeeds(units: string): number {
  let count = 0;
  for (let at = units.indexOf("\n"); at !== -1; at = units.indexOf("\n", at + 1)) count += 1;
  return count;
}
