import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { TriviumError } from "@trivium/core";
import { allocateBytes } from "@trivium/core/node";
import { systemCodeOf } from "../../file-error.ts";
import { openFile } from "../open-file.ts";
import type { Roots } from "../path-jail.ts";
import { type ChangedBytes, sha256Of } from "./splice.ts";

/** A file as it was read before an edit. */
export class CurrentFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
  #sha256: string | undefined;

  constructor(bytes: Buffer, stats: Stats) {
    this.bytes = bytes;
    this.stats = stats;
  }

  /** Of the content, hexadecimal. */
  get sha256(): string {
    this.#sha256 ??= sha256Of(this.bytes);
    return this.#sha256;
  }

  /** The hash of new content. What comes before the first change is hashed once for both. */
  sha256OfNew(bytes: Uint8Array, spans: readonly ChangedBytes[]): string {
    const same = spans[0]?.[0] ?? 0;
    if (this.#sha256 !== undefined || same === 0) return sha256Of(bytes);
    const hash = createHash("sha256").update(this.bytes.subarray(0, same));
    const after = hash.copy().update(bytes.subarray(same)).digest("hex");
    this.#sha256 = hash.update(this.bytes.subarray(same)).digest("hex");
    return after;
  }
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
  return new CurrentFile(await readWhole(handle, stats.size), stats);
}

/** Into one piece of memory of the right size, since fresh memory is what reading costs most. */
async function readWhole(handle: FileHandle, sizeBytes: number): Promise<Buffer> {
  // Files that the kernel makes up say that they are empty.
  if (sizeBytes === 0) return await handle.readFile();
  const bytes = allocateBytes(sizeBytes + 1);
  let filled = 0;
  do {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  } while (filled < sizeBytes);
  // It has grown meanwhile.
  return filled > sizeBytes ? await handle.readFile() : bytes.subarray(0, filled);
}

const COMPARED_BYTES = 1024 * 1024;
/** Kept from one comparison to the next, unless both run at once. */
let idlePiece: Buffer | undefined;

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
  if (file.stats.size !== bytes.length && file.stats.size !== 0) return false;
  const piece = idlePiece ?? Buffer.allocUnsafeSlow(COMPARED_BYTES);
  idlePiece = undefined;
  try {
    for (let compared = 0; ; ) {
      const length = Math.min(piece.length, bytes.length + 1 - compared);
      const { bytesRead } = await file.handle.read(piece, 0, length, compared);
      if (!piece.subarray(0, bytesRead).equals(bytes.subarray(compared, compared + bytesRead))) return false;
      compared += bytesRead;
      // One byte more was asked for than there may be.
      if (bytesRead < length && (bytesRead === 0 || compared === bytes.length))
        return compared === bytes.length;
    }
  } finally {
    idlePiece = piece;
  }
}
