import { type EditableText, fromUnits, toUnits } from "./editable-text.ts";
import { LineTable, trimBlanks } from "./line-table.ts";
import type { NearestLine } from "./nearest-line.ts";
import { ComparisonBudget, similarity } from "./text-similarity.ts";

const MIN_SIMILARITY = 0.6;
const MAX_STEPS = 10_000_000;
const MAX_TEXT_CHARS = 500;

/** The line that is most like the first line of `wanted` that is not blank; of equally like ones the first. */
export function mostSimilarLine(text: EditableText, wanted: string): NearestLine | undefined {
  const line = wanted
    .split("\n")
    .map(trimBlanks)
    .find((one) => one !== "");
  if (line === undefined) return undefined;
  const units = toUnits(line, text);
  const lines = new LineTable(text.units.toString());
  const budget = new ComparisonBudget(MAX_STEPS);
  let best = { index: -1, likeness: 0 };
  for (let index = 0; index < lines.count; index += 1) {
    const candidate = trimBlanks(lines.text(index));
    // Lengths that differ too much need no closer look.
    const longer = Math.max(candidate.length, units.length);
    if (Math.min(candidate.length, units.length) < longer * MIN_SIMILARITY) continue;
    const likeness = similarity(candidate, units, budget);
    if (likeness >= MIN_SIMILARITY && likeness > best.likeness) best = { index, likeness };
  }
  if (best.index === -1) return undefined;
  const found = fromUnits(lines.text(best.index), text);
  return { number: best.index + 1, text: found.slice(0, MAX_TEXT_CHARS).toWellFormed() };
}
