import { TriviumError } from "@trivium/core";
import { systemCodeOf } from "../../file-error.ts";
import { type OpenFile, openFile } from "../../files/open-file.ts";
import type { Roots } from "../../files/path-jail.ts";

const MAX_DOCUMENT_BYTES = 10 * 1024 * 1024;

/**
 * Opens a file whose text a language server may get. Dispose it after use.
 *
 * @throws {@link TriviumError} `outOfRange` above 10 MiB, and what opening a file throws.
 */
export async function openDocument(path: string, roots: Roots): Promise<OpenFile> {
  const file = await openFile(path, roots);
  if (file.sizeBytes <= MAX_DOCUMENT_BYTES) return file;
  await file[Symbol.asyncDispose]();
  throw new TriviumError("outOfRange", `${path} is larger than ${MAX_DOCUMENT_BYTES} bytes`);
}

/**
 * Text of a file for a language server; undefined for a file that is not there.
 *
 * @throws as {@link openDocument}.
 */
export async function readDocument(path: string, roots: Roots): Promise<string | undefined> {
  try {
    await using file = await openDocument(path, roots);
    return await file.handle.readFile("utf8");
  } catch (cause) {
    if (systemCodeOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
