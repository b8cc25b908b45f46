import { trim } from "../../../files/white-space.ts";
import { shorten } from "../../../shorten.ts";
import { LineReader } from "./line-reader.ts";
import { parseChunk } from "./parse-chunk.ts";
import type { Chunk, PatchOperation, UpdateFile } from "./patch.ts";
import { patchLines } from "./patch-lines.ts";
import { PatchSyntaxError } from "./patch-syntax-error.ts";

const ADD_HEADER = "*** Add File: ";
const DELETE_HEADER = "*** Delete File: ";
const UPDATE_HEADER = "*** Update File: ";
const MOVE_HEADER = "*** Move to: ";

const MAX_PATCH_BYTES = 10 * 1024 * 1024;
const MAX_OPERATIONS = 1000;

/**
 * Parses a patch. No operations: the patch is empty.
 *
 * @throws {@link PatchSyntaxError} and nothing else, whatever the text.
 */
export function parsePatch(text: string): readonly PatchOperation[] {
  if (text.length > MAX_PATCH_BYTES || Buffer.byteLength(text) > MAX_PATCH_BYTES) {
    throw new PatchSyntaxError(`it has more than ${MAX_PATCH_BYTES} bytes; send it in parts`);
  }
  if (!text.isWellFormed()) {
    throw new PatchSyntaxError("it holds half of a surrogate pair, which is no text that a file can hold");
  }
  const reader = new LineReader(patchLines(text));
  const operations: PatchOperation[] = [];
  while (!reader.isAtEnd) {
    if (operations.length === MAX_OPERATIONS) {
      throw new PatchSyntaxError(
        `there are more than ${MAX_OPERATIONS} file operations; send them in parts`,
        reader.lineNumber,
      );
    }
    operations.push(parseOperation(reader));
  }
  return operations;
}

function parseOperation(reader: LineReader): PatchOperation {
  const { lineNumber } = reader;
  const header = trim(reader.peek() ?? "");
  reader.skip();
  const added = pathAfter(header, ADD_HEADER);
  if (added !== undefined) return { kind: "add", path: added, content: parseContent(reader) };
  const deleted = pathAfter(header, DELETE_HEADER);
  if (deleted !== undefined) return { kind: "delete", path: deleted };
  const updated = pathAfter(header, UPDATE_HEADER);
  if (updated !== undefined) return parseUpdate(updated, lineNumber, reader);
  throw new PatchSyntaxError(
    `'${shorten(header)}' is no header of a file operation; there are '${ADD_HEADER}', '${DELETE_HEADER}' and '${UPDATE_HEADER}', each followed by a path`,
    lineNumber,
  );
}

function pathAfter(header: string, prefix: string): string | undefined {
  return header.startsWith(prefix) ? header.slice(prefix.length) : undefined;
}

function parseContent(reader: LineReader): string {
  const lines: string[] = [];
  for (let line = reader.takeAfter("+"); line !== undefined; line = reader.takeAfter("+")) lines.push(line);
  return lines.map((line) => `${line}\n`).join("");
}

function parseUpdate(path: string, lineNumber: number, reader: LineReader): UpdateFile {
  const moveTo = reader.takeAfter(MOVE_HEADER);
  const chunks: Chunk[] = [];
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    if (trim(line) === "") {
      reader.skip();
      continue;
    }
    if (line.startsWith("***")) break;
    chunks.push(parseChunk(reader, chunks.length === 0));
  }
  if (chunks.length === 0)
    throw new PatchSyntaxError(`the update of '${shorten(path)}' has no chunk`, lineNumber);
  return { kind: "update", path, moveTo, chunks };
}
