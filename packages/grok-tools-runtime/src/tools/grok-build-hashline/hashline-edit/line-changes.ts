import { ErrorCode } from "@trivium/proto/grok-tools";
import type { EditFailure } from "../../grok-build/search-replace/edit-failure.ts";
import type { SchemeParams } from "../anchors/scheme-params.ts";
import type { AnchoredFile } from "./anchored-file.ts";
import type { HashlineOperation } from "./hashline-edit-input.ts";
import { invalid, locateLine } from "./locate-lines.ts";

/** Lines to take out and lines to put in their place; `last` before `first`: nothing is taken out. */
export interface LineChange {
  /** From 1. */
  readonly first: number;
  readonly last: number;
  readonly lines: readonly string[];
}

/** What operations change, in the order of the file, or why not. Those at one place stay in their order. */
export function lineChanges(
  operations: readonly HashlineOperation[],
  file: AnchoredFile,
  params: SchemeParams,
): readonly LineChange[] | EditFailure {
  const changes: LineChange[] = [];
  for (const operation of operations) {
    const change = toChange(operation, file, params);
    if ("kind" in change) return change;
    changes.push(change);
  }
  changes.sort((one, other) => one.first - other.first || one.last - other.last);
  return overlapOf(changes) ?? changes;
}

function toChange(
  operation: HashlineOperation,
  file: AnchoredFile,
  params: SchemeParams,
): LineChange | EditFailure {
  switch (operation.op) {
    case "write":
      return invalid("Error: the operation write replaces the whole file, so it has to be the only one.");
    case "insert_after": {
      const line = insertionLine(operation.anchor, file, params);
      if (typeof line !== "number") return line;
      return {
        first: line + 1,
        last: line,
        lines: operation.content === "" ? [""] : linesOf(operation.content),
      };
    }
    case "replace": {
      const { anchor, end_anchor: endAnchor = anchor, content } = operation;
      const first = locateLine(anchor, file, params);
      if (typeof first !== "number") return first;
      const last = locateLine(endAnchor, file, params);
      if (typeof last !== "number") return last;
      if (last < first) return invalid(`Error: the line of ${endAnchor} comes before that of ${anchor}.`);
      return { first, last, lines: content === "" ? [] : linesOf(content) };
    }
  }
}

/** The line to insert after; 0 is the beginning. The end comes before the empty text behind the last line feed. */
function insertionLine(anchor: string, file: AnchoredFile, params: SchemeParams): number | EditFailure {
  const place = anchor.trim();
  if (place === "0:" || place === "0") return 0;
  if (place.toUpperCase() === "EOF") return file.endsWithLineFeed ? file.count - 1 : file.count;
  return locateLine(anchor, file, params);
}

/** A line feed at the end ends the last line and begins no further one. */
function linesOf(content: string): string[] {
  const lines = content.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

function overlapOf(changes: readonly LineChange[]): EditFailure | undefined {
  let end = 0;
  const removed = changes.filter(({ first, last }) => first <= last);
  for (const { first, last } of removed) {
    if (first <= end) return overlap(first);
    end = last;
  }
  const inside = changes
    .filter(({ first, last }) => first > last)
    .find((insertion) =>
      removed.some(({ first, last }) => first <= insertion.first && insertion.first <= last),
    );
  return inside === undefined ? undefined : overlap(inside.first);
}

function overlap(line: number): EditFailure {
  return {
    kind: "failure",
    variant: "NoMatchesFound",
    code: ErrorCode.INVALID_INPUT,
    text: `Error: two operations change line ${line}. Put what belongs together into one operation.`,
    lineNumber: line,
  };
}
