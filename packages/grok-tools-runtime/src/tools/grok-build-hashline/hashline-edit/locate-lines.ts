import { ErrorCode } from "@trivium/proto/grok-tools";
import { shorten } from "../../../shorten.ts";
import type { EditFailure } from "../../grok-build/search-replace/edit-failure.ts";
import { type GivenAnchor, hasHashes, parseAnchor } from "../anchors/parse-anchor.ts";
import type { SchemeParams } from "../anchors/scheme-params.ts";
import type { AnchoredFile } from "./anchored-file.ts";

const SEARCHED_LINES = 15;
const SHOWN_LINES = 5;
const MAX_LISTED = 10;
/** Of an anchor or a line in an error: longer ones would push out what is to be done. */
const MAX_SHOWN_CHARS = 500;

/** The line an anchor names, from 1, or why there is none. */
export function locateLine(text: string, file: AnchoredFile, params: SchemeParams): number | EditFailure {
  const given = parseAnchor(text, params);
  // Some send a whole line along with its anchor.
  const anchor = shorten(text, MAX_SHOWN_CHARS);
  if (given === undefined) {
    const example = file.anchors[0] ?? "";
    return invalid(
      `Error: "${anchor}" is no anchor; an anchor looks like ${example} and comes before a line.`,
    );
  }
  if (given.line === undefined) return locateByHash(anchor, given, file);
  const { line } = given;
  if (line > file.count) {
    return stale(`Error: there is no line ${line} (anchor ${anchor}): the file has ${file.count} lines.`, {
      file,
      around: file.count,
    });
  }
  return hasHashes(file.anchors[line - 1] ?? "", given) ? line : moved(anchor, { ...given, line }, file);
}

/** An input that no content of the file would make right. */
export function invalid(text: string): EditFailure {
  return { kind: "failure", variant: "InvalidInput", code: ErrorCode.INVALID_INPUT, text };
}

function locateByHash(anchor: string, given: GivenAnchor, file: AnchoredFile): number | EditFailure {
  const found = linesWith(given, file, [1, file.count]);
  const [line] = found;
  if (line === undefined) {
    return stale(
      `Error: no line has the anchor ${anchor}; the file has changed since it was read.`,
      undefined,
    );
  }
  return found.length === 1 ? line : ambiguous(anchor, found, file);
}

function moved(
  anchor: string,
  given: GivenAnchor & { readonly line: number },
  file: AnchoredFile,
): EditFailure {
  const { line, local } = given;
  const range = [line - SEARCHED_LINES, line + SEARCHED_LINES] as const;
  // Other lines of its group may have changed as well, so only the line itself is looked for.
  const found = linesWith({ line, local, chunk: undefined }, file, range);
  if (found.length > 1) return ambiguous(anchor, found, file);
  const [only] = found;
  const hint = only === undefined ? "" : ` The line may be this one now: ${file.anchors[only - 1] ?? ""}.`;
  return stale(
    `Error: the anchor ${anchor} is out of date: the line or its surroundings have changed.${hint}`,
    { file, around: line },
  );
}

function ambiguous(anchor: string, found: readonly number[], file: AnchoredFile): EditFailure {
  const lines = found.slice(0, MAX_LISTED).map((line) => shorten(file.shown(line), MAX_SHOWN_CHARS));
  const more = found.length > MAX_LISTED ? [`(and ${found.length - MAX_LISTED} more)`] : [];
  return {
    kind: "failure",
    variant: "NoMatchesFound",
    code: ErrorCode.MULTIPLE_MATCHES,
    text: [`Error: the anchor ${anchor} fits several lines. Use one of these:`, ...lines, ...more].join("\n"),
    suggestion: "use the anchor of one of the listed lines",
  };
}

function stale(text: string, near: { file: AnchoredFile; around: number } | undefined): EditFailure {
  const first = Math.max(1, (near?.around ?? 0) - SHOWN_LINES);
  const last = Math.min(near?.file.count ?? 0, (near?.around ?? 0) + SHOWN_LINES);
  const lines: string[] = [];
  for (let line = first; line <= last; line += 1) {
    lines.push(shorten(near?.file.shown(line) ?? "", MAX_SHOWN_CHARS));
  }
  return {
    kind: "failure",
    variant: "NoMatchesFound",
    code: ErrorCode.NO_MATCHES,
    text: lines.length === 0 ? text : [`${text} Anchors there now:`, ...lines].join("\n"),
    suggestion: "use the current anchors of the file",
    lineNumber: near?.around,
  };
}

function linesWith(
  given: GivenAnchor,
  { anchors, count }: AnchoredFile,
  [from, to]: readonly [number, number],
): number[] {
  const found: number[] = [];
  for (let line = Math.max(1, from); line <= Math.min(count, to); line += 1) {
    if (hasHashes(anchors[line - 1] ?? "", given)) found.push(line);
  }
  return found;
}
