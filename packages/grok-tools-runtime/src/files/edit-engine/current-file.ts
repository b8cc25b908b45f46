import type { Stats } from "node:fs";
import { TriviumError } from "@trivium/core";
import { systemCodeOf } from "../../file-error.ts";
import { openFile } from "../open-file.ts";
import type { Roots } from "../path-jail.ts";
import { sha256Of } from "./splice.ts";

/** A file as it was read before an edit. */
export interface CurrentFile {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly stats: Stats;
}

/** Larger files are not edited: an edit holds the old and the new content in memory. */
export const MAX_EDITABLE_BYTES: number = 64 * 1024 * 1024;

/**
 * Reads a file that is to be edited; undefined when there is none. Never blocks on a pipe or a device.
 *
 * @throws {@link TriviumError} `failedPrecondition` when it is no regular file, `outOfRange` when it is too large,
 * `permissionDenied` outside the roots, or the file system's error.
 */
export async function readCurrentFile(path: string, roots: Roots): Promise<CurrentFile | undefined> {
  await using file = await openFile(path, roots).catch((cause: unknown) => {
    if (systemCodeOf(cause) === "ENOENT") return undefined;
    throw cause;
  });
  if (file === undefined) return undefined;
  const { handle, stats } = file;
  if (stats.size > MAX_EDITABLE_BYTES) {
    throw new TriviumError(
      "outOfRange",
      `${path} has ${stats.size} bytes; files up to ${MAX_EDITABLE_BYTES} bytes can be edited`,
    );
  }
  const bytes = await handle.readFile();
  return { bytes, sha256: sha256Of(bytes), stats };
}

const COMPARED_BYTES = 256 * 1024;

/**
 * Whether a path still leads to a file with exactly these bytes. Reads in pieces, so that it costs no memory.
 *
 * @throws as {@link readCurrentFile}.
 */
export async function hasContent(path: string, bytes: Buffer): Promise<boolean> {
  await using file = await openFile(path, undefined).catch((cause: unknown) => {
    if (systemCodeOf(cause) === "ENOENT") return undefined;
    throw cause;
  });
  if (file === undefined) return false;
  const piece = Buffer.allocUnsafe(Math.min(COMPARED_BYTES, bytes.length + 1));
  let compared = 0;
  for (;;) {
    const { bytesRead } = await file.handle.read(piece, 0, piece.length, compared);
    if (bytesRead === 0) return compared === bytes.length;
    if (!piece.subarray(0, bytesRead).equals(bytes.subarray(compared, compared + bytesRead))) return false;
    compared += bytesRead;
  }
}
