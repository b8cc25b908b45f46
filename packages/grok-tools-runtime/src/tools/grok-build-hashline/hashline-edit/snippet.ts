import type { AnchoredFile } from "./anchored-file.ts";

/** Lines that are new, from 1; `last` before `first`: lines were taken out before `first`. */
export interface ChangedLines {
  readonly first: number;
  readonly last: number;
}

const AROUND = 3;
/** Changes further apart are shown apart; of a longer change the beginning and the end. */
const MAX_GAP = 80;

/** The changed places of a file with fresh anchors and a few lines around them. */
export function snippetOf(file: AnchoredFile, changed: readonly ChangedLines[]): string {
  const shown: string[] = [];
  let next = 0;
  for (const [from, to] of partsOf(file, changed)) {
    if (next > 0) shown.push(`... ${from - next} lines not shown ...`);
    for (let line = from; line <= to; line += 1) shown.push(file.shown(line));
    next = to + 1;
  }
  return shown.join("\n");
}

function partsOf(file: AnchoredFile, changed: readonly ChangedLines[]): [number, number][] {
  const parts: [number, number][] = [];
  for (const { first, last } of changed) {
    const length = last - first + 1;
    const pieces =
      length <= MAX_GAP
        ? [[first, last] as const]
        : [[first, first + MAX_GAP / 2] as const, [last - MAX_GAP / 2, last] as const];
    for (const [start, end] of pieces) {
      const from = Math.max(1, start - AROUND);
      const to = Math.min(file.count, Math.max(end, start - 1) + AROUND);
      const previous = parts.at(-1);
      const isLongChange = pieces.length > 1 && start !== first;
      if (previous !== undefined && from - previous[1] <= (isLongChange ? 1 : MAX_GAP)) {
        previous[1] = Math.max(previous[1], to);
      } else parts.push([from, to]);
    }
  }
  return parts;
}
