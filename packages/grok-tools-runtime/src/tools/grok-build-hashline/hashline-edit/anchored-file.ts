import { type EditableText, fromUnits } from "../../../files/edit-engine/editable-text.ts";
import type { Span } from "../../../files/edit-engine/find-matches.ts";
import { lineAnchors } from "../anchors/line-anchors.ts";
import type { SchemeParams } from "../anchors/scheme-params.ts";

/** A text as lines with anchors. What stands behind the last line feed is a line, too, even when it is empty. */
export class AnchoredFile {
  readonly lines: readonly string[];
  readonly anchors: readonly string[];
  /** Where each line begins, in units. */
  readonly #starts: readonly number[];
  readonly #units: string;

  constructor(text: Pick<EditableText, "units" | "encoding">, params: SchemeParams) {
    this.#units = text.units.toString();
    this.lines = fromUnits(this.#units, text)
      .split("\n")
      .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
    this.anchors = lineAnchors(this.lines, 1, params);
    const starts = [0];
    for (let feed = this.#units.indexOf("\n"); feed !== -1; feed = this.#units.indexOf("\n", feed + 1)) {
      starts.push(feed + 1);
    }
    this.#starts = starts;
  }

  get count(): number {
    return this.lines.length;
  }

  /** Beginning of a line, from 1; behind the last line the end of the text. */
  startOf(line: number): number {
    return this.#starts[line - 1] ?? this.#units.length;
  }

  /** The lines without the line ending of the last. */
  spanOf(first: number, last: number): Span {
    return { start: this.startOf(first), end: this.#endOf(last) };
  }

  /** What has to go so that the lines are gone: with the line ending of the last, or else that before the first. */
  removalOf(first: number, last: number): Span {
    if (last < this.count) return { start: this.startOf(first), end: this.startOf(last + 1) };
    return { start: first === 1 ? 0 : this.#endOf(first - 1), end: this.#units.length };
  }

  /** The last line is only what stands behind the last line feed. */
  get endsWithLineFeed(): boolean {
    return this.lines.at(-1) === "";
  }

  /** A line as the reading tool shows it. */
  shown(line: number): string {
    return `${this.anchors[line - 1] ?? ""}→${this.lines[line - 1] ?? ""}`;
  }

  #endOf(line: number): number {
    if (line >= this.count) return this.#units.length;
    const feed = this.startOf(line + 1) - 1;
    return this.#units[feed - 1] === "\r" && feed - 1 >= this.startOf(line) ? feed - 1 : feed;
  }
}
