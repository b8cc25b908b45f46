import { trim } from "../../../files/white-space.ts";

/** What to show around a line. */
export interface BlockRequest {
  /** Index of the line to start from. */
  readonly anchor: number;
  /** 0: no limit. */
  readonly maxLevels: number;
  readonly includeSiblings: boolean;
  readonly includeHeader: boolean;
  /** At least 1. */
  readonly maxLines: number;
}

/** Lines by index, both ends included. */
export interface LineBlock {
  readonly first: number;
  readonly last: number;
}

const TAB_COLUMNS = 4;
const commentStarts: readonly string[] = ["#", "//", "--"];

/**
 * The lines around an anchor that belong to it by their indentation, taken in turn from above and from below. Undefined
 * when only blank lines are left.
 */
export function indentationBlock(lines: readonly string[], request: BlockRequest): LineBlock | undefined {
  const { anchor, maxLevels } = request;
  const most = Math.min(request.maxLines, lines.length);
  // The anchor alone stays, even a blank one.
  if (most === 1) return { first: anchor, last: anchor };
  const indents = effectiveIndents(lines);
  const floor = maxLevels === 0 ? 0 : Math.max(0, (indents[anchor] ?? 0) - TAB_COLUMNS * maxLevels);
  const isTaken = takingRule(lines, request, { indents, floor });
  let [first, last] = [anchor, anchor];
  let [goesUp, goesDown] = [true, true];
  let [isFirstAbove, isFirstBelow] = [true, true];
  while (last - first + 1 < most && (goesUp || goesDown)) {
    if (goesUp) {
      const next = first - 1;
      goesUp = isTaken(next, { isFirst: isFirstAbove, isAbove: true });
      if (goesUp) first = next;
      if (indents[next] === floor) isFirstAbove = false;
      if (last - first + 1 >= most) break;
    }
    if (goesDown) {
      const next = last + 1;
      goesDown = isTaken(next, { isFirst: isFirstBelow, isAbove: false });
      if (goesDown) last = next;
      if (indents[next] === floor) isFirstBelow = false;
    }
  }
  return withoutBlankEnds(lines, { first, last });
}

interface Side {
  /** No line at the floor was met in this direction. */
  readonly isFirst: boolean;
  readonly isAbove: boolean;
}

/** Whether the next line belongs to the block; if not, its direction is finished. */
function takingRule(
  lines: readonly string[],
  { includeSiblings, includeHeader }: BlockRequest,
  { indents, floor }: { readonly indents: readonly number[]; readonly floor: number },
): (line: number, side: Side) => boolean {
  return (line, { isFirst, isAbove }) => {
    const indent = indents[line];
    if (indent === undefined || indent < floor) return false;
    if (indent > floor || includeSiblings || isFirst) return true;
    return isAbove && includeHeader && isComment(lines[line] ?? "");
  };
}

/** Columns before the text of each line; a blank line counts like the one before it that is not. */
function effectiveIndents(lines: readonly string[]): number[] {
  let previous = 0;
  return lines.map((line) => {
    if (!isBlank(line)) previous = indentOf(line);
    return previous;
  });
}

function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === " ") columns += 1;
    else if (character === "\t") columns += TAB_COLUMNS;
    else break;
  }
  return columns;
}

function isComment(line: string): boolean {
  const text = trim(line);
  return commentStarts.some((start) => text.startsWith(start));
}

function isBlank(line: string): boolean {
  return trim(line) === "";
}

function withoutBlankEnds(lines: readonly string[], block: LineBlock): LineBlock | undefined {
  let { first, last } = block;
  while (first <= last && isBlank(lines[first] ?? "")) first += 1;
  while (last >= first && isBlank(lines[last] ?? "")) last -= 1;
  return first > last ? undefined : { first, last };
}
