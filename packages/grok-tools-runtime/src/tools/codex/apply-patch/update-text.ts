import type { NewContent } from "../../../files/edit-engine/edit-engine.ts";
import { parseEditableText, toUnits } from "../../../files/edit-engine/editable-text.ts";
import { type Replacement, spliceText } from "../../../files/edit-engine/splice.ts";
import { FileLines, type Terminator } from "./file-lines.ts";
import type { Fuzz } from "./line-seeker.ts";
import { type LocatedChunk, locateChunks, type UnlocatedChunk } from "./locate-chunks.ts";
import type { Chunk } from "./patch.ts";

/** What became of a file's content, or why nothing did. */
export type UpdateOutcome =
  | (NewContent & {
      readonly kind: "updated";
      readonly fuzz: Fuzz;
      /** Some lines are there several times; the first place was taken. */
      readonly isAmbiguous: boolean;
    })
  | UnlocatedChunk
  | { readonly kind: "binary" };

/**
 * Applies the chunks of an update to the bytes of a file. Only removed and added lines change, byte for byte.
 *
 * An added line is terminated like the line before it in its chunk, else the one after it, else the nearest of the
 * file. The last line of a file stays without a terminator unless lines are added behind it.
 *
 * @throws {@link TriviumError} `outOfRange` for too many lines; the reason of `signal`.
 */
export async function updateText(
  content: Uint8Array,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<UpdateOutcome> {
  const text = parseEditableText(content);
  if (text === undefined) return { kind: "binary" };
  const lines = new FileLines(text);
  const located = await locateChunks(lines, chunks, signal);
  if (located.kind === "unlocated") return located;
  const edits = new LineEdits(lines);
  // Lines that are added at one place come in the order of the chunks that begin earlier.
  for (const chunk of located.chunks.toSorted((one, other) => one.start - other.start)) edits.add(chunk);
  const { bytes, spans } = spliceText(text, edits.replacements());
  return { kind: "updated", bytes, spans, fuzz: located.fuzz, isAmbiguous: located.isAmbiguous };
}

/** Which lines of a file go, and what is added between the others. */
class LineEdits {
  readonly #lines: FileLines;
  readonly #removed = new Set<number>();
  /** Added units by the line they come before; the number of lines stands for the end. */
  readonly #added = new Map<number, string>();

  constructor(lines: FileLines) {
    this.#lines = lines;
  }

  add({ start, lines }: LocatedChunk): void {
    const oldCount = lines.filter(({ kind }) => kind !== "add").length;
    let next = start;
    for (const { kind, text } of lines) {
      if (kind === "add") {
        const terminator = this.#terminatorAt(next, { first: start, end: start + oldCount });
        this.#append(next, toUnits(text, this.#lines.text) + terminator);
        continue;
      }
      if (kind === "remove") this.#removed.add(next);
      next += 1;
    }
  }

  /** In the order of the file; neighbours are one replacement. */
  replacements(): Replacement[] {
    const replacements: Replacement[] = [];
    const touched = [...new Set([...this.#removed, ...this.#added.keys()])].sort((one, other) => one - other);
    for (const line of touched) {
      const start = this.#lines.startOf(line);
      const end = this.#removed.has(line) ? this.#lines.startOf(line + 1) : start;
      const units = this.#added.get(line) ?? "";
      const previous = replacements.at(-1);
      if (previous?.span.end === start) {
        replacements[replacements.length - 1] = {
          span: { start: previous.span.start, end },
          units: previous.units + units,
        };
      } else {
        replacements.push({ span: { start, end }, units });
      }
    }
    return replacements;
  }

  #append(line: number, units: string): void {
    const before = this.#added.get(line) ?? this.#missingTerminatorBefore(line);
    this.#added.set(line, before + units);
  }

  /** What ends the last line of the file when something comes behind it. */
  #missingTerminatorBefore(line: number): Terminator {
    const last = line - 1;
    const isLast = line === this.#lines.count && last >= 0;
    if (!isLast || this.#removed.has(last) || this.#lines.terminatorOf(last) !== "") return "";
    return this.#lines.terminatorNear(line);
  }

  #terminatorAt(next: number, chunk: { readonly first: number; readonly end: number }): Terminator {
    const before = next > chunk.first ? this.#lines.terminatorOf(next - 1) : "";
    const after = next < chunk.end ? this.#lines.terminatorOf(next) : "";
    return before || after || this.#lines.terminatorNear(next);
  }
}
