import { firstCharacters } from "../../../search/content-collector.ts";
import type { FileLines, FoundLine } from "../../../search/matching-lines.ts";
import type { FoundPath } from "../../../search/search-paths.ts";

/** A line of the answer. */
export interface ListedLine {
  readonly text: string;
  /** What it adds to the number of matches. */
  readonly matchCount: number;
  /** Set on matching lines. */
  readonly match?: { readonly path: string; readonly lineNumber: number; readonly content: string };
}

/** How paths and lines are written. */
export interface ListingStyle {
  readonly maxLineChars: number;
  displayPath(path: string): string;
  /** What stands before a line instead of its number. */
  readonly lineName?: ((path: string, line: FoundLine) => string | undefined) | undefined;
}

/** Headings, lines, `--` between groups and a blank line between files. */
export function listContent(
  files: readonly FileLines[],
  hasContext: boolean,
  style: ListingStyle,
): ListedLine[] {
  const listed: ListedLine[] = [];
  for (const { path, lines } of files) {
    if (listed.length > 0) listed.push(plain(""));
    const display = style.displayPath(path);
    listed.push(plain(display));
    let previous: FoundLine | undefined;
    for (const line of lines) {
      if (hasContext && previous !== undefined && line.number > previous.number + 1) listed.push(plain("--"));
      const name = style.lineName?.(path, line) ?? String(line.number);
      listed.push(listLine(line, { display, name }, style));
      previous = line;
    }
  }
  return listed;
}

/** One line for each file, with the number of its matching lines when they were counted. */
export function listPaths(paths: readonly FoundPath[], counts: boolean, style: ListingStyle): ListedLine[] {
  return paths.map(({ path, count }) => {
    const text = counts ? `${style.displayPath(path)}:${count}` : style.displayPath(path);
    return { text: cutLine(text, style.maxLineChars), matchCount: count };
  });
}

function plain(text: string): ListedLine {
  return { text, matchCount: 0 };
}

function listLine(
  line: FoundLine,
  { display, name }: { readonly display: string; readonly name: string },
  { maxLineChars }: ListingStyle,
): ListedLine {
  const isMatch = line.kind === "match";
  const prefix = `${name}${isMatch ? ":" : "-"}`;
  const text = cutLine(prefix + line.text, maxLineChars, prefix.length + line.charCount);
  if (!isMatch) return plain(text);
  const content = cutLine(line.text, maxLineChars, line.charCount);
  return { text, matchCount: 1, match: { path: display, lineNumber: line.number, content } };
}

/** `charCount` is the length of the whole line, of which `text` may be the beginning only. */
function cutLine(text: string, maxChars: number, charCount: number = Array.from(text).length): string {
  if (charCount <= maxChars) return text;
  return `${firstCharacters(text, maxChars)} [... truncated (${charCount} chars total)]`;
}
