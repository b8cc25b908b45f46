import { setImmediate } from "node:timers/promises";
import type { FileLines } from "./file-lines.ts";
import { type Fuzz, LineSeeker } from "./line-seeker.ts";
import type { Chunk, ChunkLine } from "./patch.ts";

/** A chunk and the place in the file where its lines go. */
export interface LocatedChunk {
  /** First line that the chunk is about, from 0. */
  readonly start: number;
  /** Those with old text stand for the lines of the file from `start` on, one each. */
  readonly lines: readonly ChunkLine[];
}

/** Chunks with their places, in the order of the patch. */
export interface LocatedChunks {
  readonly kind: "located";
  readonly chunks: readonly LocatedChunk[];
  /** The least strict comparison that was needed. */
  readonly fuzz: Fuzz;
  readonly isAmbiguous: boolean;
}

/** A chunk whose lines, or one of the contexts before them, are not there. */
export interface UnlocatedChunk {
  readonly kind: "unlocated";
  readonly chunk: Chunk;
  /** Undefined: the lines of the chunk. */
  readonly context: string | undefined;
  /** Lines before this one were not looked at, from 0. */
  readonly from: number;
}

/** Other work gets its turn after comparing so many lines. */
const TURN_LINES = 1_000_000;

/**
 * Finds the place of each chunk. Chunks come in the order of the file, except those that only add lines, which go to
 * its end.
 *
 * @throws the reason of `signal`.
 */
export async function locateChunks(
  lines: FileLines,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<LocatedChunks | UnlocatedChunk> {
  const seeker = new LineSeeker(lines);
  const located: LocatedChunk[] = [];
  let cursor = 0;
  let consumed = 0;
  let fuzz: Fuzz = 1;
  let isAmbiguous = false;
  let nextTurn = TURN_LINES;
  for (const chunk of chunks) {
    if (seeker.comparedLines > nextTurn) {
      nextTurn = seeker.comparedLines + TURN_LINES;
      await setImmediate();
      signal.throwIfAborted();
    }
    for (const context of chunk.contexts) {
      const found = seeker.find({ pattern: [context], from: cursor, isEndOfFile: false });
      if (found === undefined) return { kind: "unlocated", chunk, context, from: cursor };
      cursor = found.line + 1;
      if (found.fuzz > fuzz) fuzz = found.fuzz;
    }
    if (chunk.lines.every(({ kind }) => kind === "add")) {
      located.push({ start: endOf(lines), lines: chunk.lines });
      continue;
    }
    const found = findChunk(seeker, chunk, cursor);
    // The end of the file may lie before the cursor, but never inside what an earlier chunk has changed.
    if (found === undefined || found.start < consumed) {
      return { kind: "unlocated", chunk, context: undefined, from: cursor };
    }
    located.push(found);
    cursor = found.start + oldTextOf(found.lines).length;
    consumed = cursor;
    if (found.fuzz > fuzz) fuzz = found.fuzz;
    isAmbiguous ||= found.isAmbiguous;
  }
  return { kind: "located", chunks: located, fuzz, isAmbiguous };
}

/** Behind the last line, but before an empty one. */
function endOf(lines: FileLines): number {
  const last = lines.count - 1;
  return lines.count > 0 && lines.textOf(last) === "" ? last : lines.count;
}

interface FoundChunk extends LocatedChunk {
  readonly fuzz: Fuzz;
  readonly isAmbiguous: boolean;
}

function findChunk(seeker: LineSeeker, chunk: Chunk, from: number): FoundChunk | undefined {
  for (const lines of [chunk.lines, withoutLastEmptyLine(chunk.lines)]) {
    if (lines === undefined) continue;
    const { isEndOfFile } = chunk;
    const found = seeker.find({ pattern: oldTextOf(lines), from, isEndOfFile });
    if (found === undefined) continue;
    return { start: found.line, lines, fuzz: found.fuzz, isAmbiguous: found.isAmbiguous };
  }
  return undefined;
}

function oldTextOf(lines: readonly ChunkLine[]): string[] {
  return lines.filter(({ kind }) => kind !== "add").map(({ text }) => text);
}

/**
 * The chunk without an empty last old line, which is often only the blank line behind the chunk; the new text loses an
 * empty last line too. Undefined when the last old line is not empty.
 */
function withoutLastEmptyLine(lines: readonly ChunkLine[]): ChunkLine[] | undefined {
  const oldIndex = lines.findLastIndex(({ kind }) => kind !== "add");
  const old = lines[oldIndex];
  if (old?.text !== "") return undefined;
  const newIndex = lines.findLastIndex(({ kind }) => kind !== "remove");
  const dropsNew = lines[newIndex]?.text === "";
  return lines.flatMap((line, index): ChunkLine[] => {
    if (index === newIndex && dropsNew) return [];
    if (index !== oldIndex) return [line];
    // Context that is not in the file any more is new text.
    return line.kind === "context" ? [{ kind: "add", text: "" }] : [];
  });
}
