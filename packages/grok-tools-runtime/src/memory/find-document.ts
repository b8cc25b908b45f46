import { access } from "node:fs/promises";
import { isAbsolute, resolve, sep } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../files/access-failure.ts";
import { toModelPath } from "../files/model-path.ts";
import { type OpenFile, openFile } from "../files/open-file.ts";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { MAX_DOCUMENT_BYTES } from "./memory-index.ts";
import { type MemoryRoot, memoryRoots } from "./memory-roots.ts";

/** An open document of the memory. Dispose `file` after use. */
export interface OpenDocument {
  readonly path: string;
  readonly file: OpenFile;
}

/**
 * Opens a document by its absolute path or by one relative to a root. Links cannot lead out of the roots.
 *
 * @throws {@link ToolError} PERMISSION_DENIED outside the roots, FILE_NOT_FOUND, INVALID_INPUT when it is no regular
 * file or too large.
 */
export async function openDocument(given: string, context: ToolContext): Promise<OpenDocument> {
  const roots = await memoryRoots(context);
  const path = await locate(given, roots, context);
  try {
    const file = await openFile(
      path,
      roots.map(({ realPath }) => realPath),
    );
    if (file.sizeBytes <= MAX_DOCUMENT_BYTES) return { path, file };
    await file[Symbol.asyncDispose]();
  } catch (thrown) {
    const { code, reason } = accessFailureOf(thrown, context.signal);
    throw new ToolError(code, textOf(code, given), {
      cause: thrown,
      filePath: path,
      ...(reason !== undefined && { details: { reason } }),
      suggestion: "Use a path that the memory search printed.",
    });
  }
  throw new ToolError(
    ErrorCode.INVALID_INPUT,
    `${given} is larger than ${MAX_DOCUMENT_BYTES} bytes, the limit of a memory document`,
    { filePath: path, details: { reason: "too_large" } },
  );
}

/**
 * The first root that has the path; without one the path in the first root, to say that it is missing. A path that
 * leads out of the roots is taken from the working directory, where it will not be opened.
 */
async function locate(given: string, roots: readonly MemoryRoot[], context: ToolContext): Promise<string> {
  const { argument, path: absolute } = toModelPath(given, context);
  if (isAbsolute(argument) || argument.startsWith("~")) return absolute;
  const candidates = roots.map(({ path }) => ({ root: path, path: resolve(path, argument) }));
  const inside = candidates.filter(({ root, path }) => path.startsWith(root + sep));
  for (const { path } of inside) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return inside[0]?.path ?? absolute;
}

function textOf(code: ErrorCode, given: string): string {
  if (code === ErrorCode.PERMISSION_DENIED) return `${given} is not one of the memory's documents`;
  if (code === ErrorCode.FILE_NOT_FOUND) return `the memory has no document ${given}`;
  return `the memory document ${given} cannot be read`;
}
