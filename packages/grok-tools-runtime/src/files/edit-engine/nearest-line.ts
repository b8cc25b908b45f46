import { type EditableText, fromUnits, toUnits } from "./editable-text.ts";
import { countFeeds } from "./units.ts";

/** A line that a text which was not found may have meant. */
export interface NearestLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * The first line that holds the longest word of the first line of `wanted`; of several equally long words the last.
 * Undefined when there is no word, or no line with it.
 */
export function nearestLine(text: EditableText, wanted: string): NearestLine | undefined {
  const words = (wanted.split(/\r?\n/)[0] ?? "").split(/\s+/).filter((word) => word !== "");
  const longest = words.reduce((best, word) => (word.length >= best.length ? word : best), "");
  const at = longest === "" ? -1 : text.units.indexOf(toUnits(longest, text));
  if (at === -1) return undefined;
  const start = text.units.lastIndexOf("\n", at) + 1;
  const end = text.units.indexOf("\n", at);
  const line = text.units.slice(start, end === -1 ? undefined : end);
  const number = countFeeds(text.units, 0, start) + 1;
  return { number, text: fromUnits(line.endsWith("\r") ? line.slice(0, -1) : line, text) };
}
