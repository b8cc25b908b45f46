import { createTwoFilesPatch, diffLines } from "diff";

const CONTEXT_LINES = 3;
const MAX_DIFF_CHARS = 10_000;
/** Beyond this a line diff may take seconds; such changes are told without one. */
const MAX_DIFFED_CHARS = 2_000_000;
const DIFF_TIMEOUT_MS = 500;

/** A unified diff with three lines of context, at most 10 000 characters. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before.length + after.length > MAX_DIFFED_CHARS) return "(too large to compare)";
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: DIFF_TIMEOUT_MS,
  });
  if (patch === undefined) return "(too large to compare)";
  const body = patch.replace(/^=+\n/, "");
  return body.length > MAX_DIFF_CHARS ? `${body.slice(0, MAX_DIFF_CHARS).toWellFormed()}\n[diff cut]` : body;
}

/** How many lines came and went. */
export function changedLineCounts(before: string, after: string): { added: number; removed: number } {
  const changes =
    before.length + after.length > MAX_DIFFED_CHARS
      ? undefined
      : diffLines(before, after, { timeout: DIFF_TIMEOUT_MS });
  if (changes === undefined) return { added: after.split("\n").length, removed: before.split("\n").length };
  let added = 0;
  let removed = 0;
  for (const change of changes) {
    if (change.added) added += change.count;
    if (change.removed) removed += change.count;
  }
  return { added, removed };
}
