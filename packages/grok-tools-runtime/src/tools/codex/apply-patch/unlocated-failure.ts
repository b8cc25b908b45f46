import { ErrorCode } from "@trivium/proto/grok-tools";
import { parseEditableText } from "../../../files/edit-engine/editable-text.ts";
import { nearestLine } from "../../../files/edit-engine/nearest-line.ts";
import type { UnlocatedChunk } from "./locate-chunks.ts";
import { fileFailure, type PatchFailure } from "./patch-failure.ts";

const MAX_SHOWN_LINES = 40;
const MAX_SHOWN_CHARS = 500;

/** The file in which the lines were looked for. */
export interface SearchedFile {
  readonly named: string;
  readonly bytes: Uint8Array;
  readonly readTool: string | undefined;
}

/** Says which lines are not in the file and where something similar is. */
export function unlocatedFailure(
  { chunk, context, from }: UnlocatedChunk,
  { named, bytes, readTool }: SearchedFile,
): PatchFailure {
  const wanted =
    context === undefined
      ? chunk.lines.filter(({ kind }) => kind !== "add").map(({ text }) => text)
      : [context];
  const what =
    context === undefined
      ? `the old lines of the chunk at line ${chunk.lineNumber} of the patch`
      : `the context line of the chunk at line ${chunk.lineNumber} of the patch`;
  const where = [
    ...(chunk.isEndOfFile && context === undefined ? ["at its end"] : []),
    ...(from > 0 ? [`behind line ${from}, where the part before leads to`] : []),
  ].join(" and ");
  const text = parseEditableText(bytes);
  const firstFilled = wanted.find((line) => line.trim() !== "") ?? "";
  const nearest = text === undefined ? undefined : nearestLine(text, firstFilled);
  const read = readTool ?? "the reading tool";
  const lines = [
    `${what} cannot be found in ${named}${where === "" ? "" : ` (${where})`}:`,
    ...shown(wanted),
    ...(nearest === undefined ? [] : [`Nearest match: line ${nearest.number}: ${cut(nearest.text)}`]),
    `Nothing was changed. Read the file again with ${read}; chunks must follow the order of the file.`,
  ];
  return fileFailure({
    filePath: named,
    code: ErrorCode.NO_MATCHES,
    text: lines.join("\n"),
    suggestion: `read the file again with ${read}`,
    lineNumber: nearest?.number,
  });
}

function shown(lines: readonly string[]): string[] {
  const more = lines.length - MAX_SHOWN_LINES;
  return [...lines.slice(0, MAX_SHOWN_LINES).map(cut), ...(more > 0 ? [`(and ${more} more lines)`] : [])];
}

function cut(line: string): string {
  return line.length <= MAX_SHOWN_CHARS ? line : `${line.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…`;
}
