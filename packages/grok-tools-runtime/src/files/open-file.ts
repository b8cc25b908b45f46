import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { TriviumError } from "@trivium/core";
import { systemCodeOf } from "../file-error.ts";
import { assertHandleInsideRoots, assertPathInsideRoots, type Roots } from "./path-jail.ts";
import { RecentPart } from "./recent-part.ts";

/** A regular file that is open for reading. Dispose it after use. */
export interface OpenFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly stats: Stats;
  /** What can be read. Files that the kernel makes up (`/proc`) say that they are empty. */
  readonly sizeBytes: number;
  /** What was read of it last. */
  readonly recent: RecentPart;
}

const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Opens a regular file for reading and checks where it really is. Never blocks: a pipe or device is told, neither read
 * nor, unless the path changes in that moment, opened, which its writer would notice.
 *
 * @throws {@link TriviumError} `failedPrecondition` when it is neither a file nor a folder, `permissionDenied` outside
 * the roots; a system error otherwise, EISDIR for a folder.
 */
export async function openFile(path: string, roots: Roots): Promise<OpenFile> {
  await assertPathInsideRoots(path, roots);
  const named = await stat(path);
  if (!named.isFile() && !named.isDirectory()) throw notRegular(path);
  const handle = await open(path, OPEN_FLAGS).catch((cause: unknown) => {
    // Sockets and devices without a driver cannot even be opened.
    if (systemCodeOf(cause) === "ENXIO" || systemCodeOf(cause) === "ENODEV") throw notRegular(path);
    throw cause;
  });
  try {
    await assertHandleInsideRoots(handle, path, roots);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      throw Object.assign(new Error(`${path} is a directory`), { code: "EISDIR" });
    }
    if (!stats.isFile()) throw notRegular(path);
    const sizeBytes = stats.size > 0 ? stats.size : await readableBytes(handle);
    const recent = new RecentPart(sizeBytes);
    const dispose = async (): Promise<void> => {
      recent[Symbol.dispose]();
      await handle.close();
    };
    return { handle, stats, sizeBytes, recent, [Symbol.asyncDispose]: dispose };
  } catch (cause) {
    await handle.close();
    throw cause;
  }
}

/** More than any file of `/proc` that is worth reading. */
const MAX_UNKNOWN_BYTES = 16 * 1024 * 1024;

async function readableBytes(handle: FileHandle): Promise<number> {
  const buffer = Buffer.allocUnsafe(64 * 1024);
  let total = 0;
  while (total < MAX_UNKNOWN_BYTES) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, total);
    if (bytesRead === 0) break;
    total += bytesRead;
  }
  return total;
}

/** The error for a pipe, a socket or a device; its kind `failedPrecondition` has no other use in this folder. */
export function notRegular(path: string): TriviumError {
  return new TriviumError("failedPrecondition", `${path} is not a regular file`);
}

/** Whether an error is that of {@link notRegular}. */
export function isNotRegular(thrown: unknown): boolean {
  return TriviumError.isInstance(thrown) && thrown.kind === "failedPrecondition";
}
