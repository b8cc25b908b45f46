import { shorten } from "../../../shorten.ts";
import type { LineReader } from "./line-reader.ts";
import type { Chunk, ChunkLine } from "./patch.ts";
import { PatchSyntaxError } from "./patch-syntax-error.ts";

const MARKER = "@@";
const CONTEXT_PREFIX = "@@ ";
const END_OF_FILE_MARKER = "*** End of File";

const kinds: ReadonlyMap<string, ChunkLine["kind"]> = new Map([
  [" ", "context"],
  ["-", "remove"],
  ["+", "add"],
]);

/**
 * Parses one chunk of an update. `isFirst`: it may begin without its `@@` line.
 *
 * @throws {@link PatchSyntaxError}
 */
export function parseChunk(reader: LineReader, isFirst: boolean): Chunk {
  const { lineNumber } = reader;
  const contexts = parseMarker(reader, isFirst);
  // A chunk without a marker is complained about one line further down too.
  const problemLine = Math.max(reader.lineNumber, lineNumber + 1);
  const lines: ChunkLine[] = [];
  let isEndOfFile = false;
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    if (line === END_OF_FILE_MARKER) {
      isEndOfFile = true;
      reader.skip();
      break;
    }
    const kind = line === "" ? "context" : kinds.get(line.charAt(0));
    if (kind === undefined) {
      if (lines.length > 0) break;
      throw new PatchSyntaxError(
        `'${shorten(line)}' cannot be in a chunk: each line begins with ' ' (context), '-' (removed) or '+' (added)`,
        problemLine,
      );
    }
    lines.push({ kind, text: line.slice(1) });
    reader.skip();
  }
  if (lines.length === 0) throw new PatchSyntaxError("the chunk has no lines", problemLine);
  return { lineNumber, contexts, lines, isEndOfFile };
}

/** The contexts of the `@@` lines: none for a bare one, else of as many as follow each other. */
function parseMarker(reader: LineReader, isFirst: boolean): string[] {
  const line = reader.peek();
  if (line === MARKER) {
    reader.skip();
    return [];
  }
  const contexts: string[] = [];
  for (
    let context = reader.takeAfter(CONTEXT_PREFIX);
    context !== undefined;
    context = reader.takeAfter(CONTEXT_PREFIX)
  ) {
    contexts.push(context);
  }
  if (contexts.length === 0 && !isFirst) {
    throw new PatchSyntaxError(
      `a further chunk must begin with '${MARKER}' or '${CONTEXT_PREFIX}' and a line of the file, not with '${shorten(line ?? "")}'`,
      reader.lineNumber,
    );
  }
  return contexts;
}
