import { constants, type Stats } from "node:fs";
import { access, type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { TriviumError } from "@trivium/core";
import { systemCodeOf } from "../../file-error.ts";
import { OpenFolder } from "../open-folder.ts";
import { assertHandleInsideRoots, type Roots } from "../path-jail.ts";
import { type CurrentFile, hasContent, readCurrentFile } from "./current-file.ts";
import { writeAt } from "./write-at.ts";
import type { WriteJournal } from "./write-journal.ts";

/** A write that is about to happen. */
export interface PendingWrite {
  /** The file itself, not a link to it. Absolute. */
  readonly path: string;
  readonly content: Uint8Array;
  /** What the content was computed from; undefined: there was no file. */
  readonly expected: CurrentFile | undefined;
  /** Gives a new file this mode and, where that is allowed, this owner: a file that moves keeps them. */
  readonly likeness?: Stats | undefined;
  readonly roots: Roots;
  /** Flush to the disk before the new content takes the place of the old. */
  readonly isDurable: boolean;
  /** Unused name for the temporary file. */
  readonly temporaryName: string;
  /** Takes a record of what is written in place. Undefined: a process that dies then leaves a mixture of both contents. */
  readonly journal: WriteJournal | undefined;
  /** Work on the content that is done while the thread pool writes it; not called when it is written in place. */
  readonly whileWriting?: (() => void) | undefined;
}

/**
 * Puts new content in place of what was read: a temporary file beside it, renamed over it.
 *
 * Mode and owner stay. A file with several names, one in a folder that cannot be written, and one that cannot be
 * replaced (a mount point) are written in place; when that fails the old content is put back. Resolves with false when the file is no longer what was expected;
 * then nothing was written.
 *
 * @throws {@link TriviumError} `permissionDenied` outside the roots, or the file system's error.
 */
export async function writeFileInPlaceOf(write: PendingWrite): Promise<boolean> {
  const { path, expected } = write;
  if (expected === undefined) return await writeBeside(write);
  // A rename would replace a file its owner made read-only.
  await access(path, constants.W_OK);
  if (expected.stats.nlink > 1) return await writeInto(write, expected);
  try {
    return await writeBeside(write);
  } catch (cause) {
    if (needsWriteInPlace(cause)) return await writeInto(write, expected);
    throw cause;
  }
}

async function writeBeside(write: PendingWrite): Promise<boolean> {
  const { path, expected, roots } = write;
  await using folder = await OpenFolder.open(dirname(path), { roots, create: expected === undefined });
  const temporaryPath = folder.entry(write.temporaryName);
  const target = folder.entry(basename(path));
  let isRenamed = false;
  try {
    await writeTemporary(temporaryPath, write);
    if (expected === undefined) return await linkAsNew(temporaryPath, target);
    if (!(await hasContent(target, expected.bytes))) return false;
    await rename(temporaryPath, target);
    isRenamed = true;
    return true;
  } finally {
    if (!isRenamed) await unlink(temporaryPath).catch(() => undefined);
  }
}

/** No new file in this folder, no such owner for one, or a target that cannot be replaced. */
function needsWriteInPlace(cause: unknown): boolean {
  return ["EACCES", "EPERM", "EBUSY", "EXDEV"].includes(systemCodeOf(cause) ?? "");
}

async function writeTemporary(temporaryPath: string, write: PendingWrite): Promise<void> {
  const { expected, likeness, content, isDurable } = write;
  const isPlain = expected === undefined && likeness === undefined;
  const handle = await open(temporaryPath, "wx", isPlain ? 0o666 : 0o600);
  try {
    // In one go, where `writeFile` would take a turn for every 512 KiB.
    const writing = writeAt(handle, content, 0);
    write.whileWriting?.();
    await writing;
    if (expected !== undefined) await takeOver(handle, expected.stats);
    else if (likeness !== undefined) await resemble(handle, likeness);
    if (isDurable) await handle.sync();
  } finally {
    await handle.close();
  }
}

async function takeOver(handle: FileHandle, stats: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== stats.uid || own.gid !== stats.gid) await handle.chown(stats.uid, stats.gid);
  // After chown, which clears set-id bits.
  await handle.chmod(stats.mode & 0o7777);
}

/** Set-id bits mean something with their owner only. */
async function resemble(handle: FileHandle, stats: Stats): Promise<void> {
  await takeOver(handle, stats).catch(() => handle.chmod(stats.mode & 0o777));
}

/**
 * Gives a file another name, which stays the first one's until that is removed. Unlike a rename, a link never replaces
 * a file that appeared meanwhile: false then.
 */
export async function linkAsNew(temporaryPath: string, target: string): Promise<boolean> {
  try {
    await link(temporaryPath, target);
    return true;
  } catch (cause) {
    if (systemCodeOf(cause) === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK"].includes(systemCodeOf(cause) ?? "")) throw cause;
  }
  // A file system without hard links: look, then rename.
  if ((await readCurrentFile(target, undefined)) !== undefined) return false;
  await rename(temporaryPath, target);
  return true;
}

async function writeInto(write: PendingWrite, expected: CurrentFile): Promise<boolean> {
  const handle = await open(write.path, constants.O_RDWR | (constants.O_NONBLOCK ?? 0));
  try {
    await assertHandleInsideRoots(handle, write.path, write.roots);
    const now = await handle.readFile();
    if (!now.equals(expected.bytes)) return false;
    const record = await write.journal?.begin({ path: write.path, before: now, after: write.content });
    try {
      await replaceContent(handle, now, write);
    } catch (cause) {
      try {
        await record?.turnBack();
        await restoreContent(handle, now, write);
      } catch (second) {
        // The record stays: the next start puts it back.
        const message = `${write.path} could not be written in place, and its old content could not be put back: ${String(second)}`;
        throw new TriviumError("internal", message, { cause });
      }
      await record?.end();
      throw cause;
    }
    await record?.end();
    return true;
  } finally {
    await handle.close();
  }
}

/** What grows the file comes first: a full disk shows before anything of the old content is gone. */
async function replaceContent(
  handle: FileHandle,
  old: Uint8Array,
  { content, isDurable }: PendingWrite,
): Promise<void> {
  await writeAt(handle, content.subarray(old.length), old.length);
  await writeAt(handle, content.subarray(0, old.length), 0);
  await handle.truncate(content.length);
  if (isDurable) await handle.sync();
}

async function restoreContent(
  handle: FileHandle,
  old: Uint8Array,
  { isDurable }: PendingWrite,
): Promise<void> {
  await writeAt(handle, old, 0);
  await handle.truncate(old.length);
  if (isDurable) await handle.sync();
}
