import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { TriviumError } from "@trivium/core";
import { systemCodeOf } from "../../file-error.ts";
import { assertHandleInsideRoots, type Roots } from "../path-jail.ts";
import { sha256Of } from "./splice.ts";

/** A file as it was read before an edit. */
export interface CurrentFile {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly stats: Stats;
}

/** Larger files are not edited: an edit holds the old and the new content in memory. */
export const MAX_EDITABLE_BYTES: number = 256 * 1024 * 1024;

/**
 * Reads a file that is to be edited; undefined when there is none. Never blocks on a pipe or a device.
 *
 * @throws {@link TriviumError} `failedPrecondition` when it is no regular file, `outOfRange` when it is too large,
 * `permissionDenied` outside the roots, or the file system's error.
 */
export async function readCurrentFile(path: string, roots: Roots): Promise<CurrentFile | undefined> {
  const handle = await openExisting(path);
  if (handle === undefined) return undefined;
  try {
    await assertHandleInsideRoots(handle, path, roots);
    const stats = await handle.stat();
    assertEditable(path, stats);
    const bytes = await handle.readFile();
    return { bytes, sha256: sha256Of(bytes), stats };
  } finally {
    await handle.close();
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const code = systemCodeOf(cause);
    if (code === "ENOENT") return undefined;
    if (code === "ENXIO") throw notRegular(path);
    throw cause;
  }
}

function assertEditable(path: string, stats: Stats): void {
  if (!stats.isFile()) throw notRegular(path);
  if (stats.size > MAX_EDITABLE_BYTES) {
    throw new TriviumError(
      "outOfRange",
      `${path} has ${stats.size} bytes; files up to ${MAX_EDITABLE_BYTES} bytes can be edited`,
    );
  }
}

function notRegular(path: string): TriviumError {
  return new TriviumError("failedPrecondition", `${path} is not a regular file`);
}
