import type { EditableText } from "../../../files/edit-engine/editable-text.ts";
import { toUnits } from "../../../files/edit-engine/editable-text.ts";
import {
  LineEndingCursor,
  lineEndingAt,
  renderReplacement,
} from "../../../files/edit-engine/render-replacement.ts";
import type { Replacement } from "../../../files/edit-engine/splice.ts";
import type { AnchoredFile } from "./anchored-file.ts";
import type { LineChange } from "./line-changes.ts";

/** Changes of lines as replacements of units, ascending. Lines that stay keep their bytes. */
export function renderChanges(
  changes: readonly LineChange[],
  file: AnchoredFile,
  text: EditableText,
): Replacement[] {
  const joined = joinRemovals(changes);
  const isEmptied = joined.some(
    ({ first, last, lines }) => first === 1 && last === file.count && lines.length === 0,
  );
  const endings = new LineEndingCursor(text.units);
  return joined.map((change) => {
    const { first, last } = change;
    const units = change.lines.map((line) => toUnits(line, text));
    if (first > last) return insertion(first, units, { file, text, isEmptied });
    if (units.length === 0) return { span: file.removalOf(first, last), units: "" };
    const span = file.spanOf(first, last);
    return { span, units: renderReplacement(endings, span, units.join("\n")) };
  });
}

/** Removals next to each other are one: who removes the last lines also removes the line ending before them. */
function joinRemovals(changes: readonly LineChange[]): LineChange[] {
  const joined: LineChange[] = [];
  for (const change of changes) {
    const previous = joined.at(-1);
    const isNext =
      previous !== undefined &&
      isRemoval(previous) &&
      isRemoval(change) &&
      previous.last + 1 === change.first;
    if (isNext) joined[joined.length - 1] = { ...previous, last: change.last };
    else joined.push(change);
  }
  return joined;
}

function isRemoval({ first, last, lines }: LineChange): boolean {
  return first <= last && lines.length === 0;
}

function insertion(
  line: number,
  lines: readonly string[],
  { file, text, isEmptied }: { file: AnchoredFile; text: EditableText; isEmptied: boolean },
): Replacement {
  const start = file.startOf(line);
  const span = { start, end: start };
  const ending = lineEndingAt(text.units, span) ?? "\n";
  if (line <= file.count) return { span, units: lines.map((each) => each + ending).join("") };
  // Behind a last line that has no line ending.
  return { span, units: (isEmptied ? "" : ending) + lines.join(ending) };
}
