import { constants } from "node:fs";
import { type FileHandle, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@trivium/core";
import { systemCodeOf } from "../../file-error.ts";
import { isInterrupted, type WriteDirection } from "./interrupted-write.ts";
import { writeAt } from "./write-at.ts";
import { type InPlaceWrite, readRecord, recordEndings, writeJournalFolder } from "./write-journal.ts";

/** What {@link recoverInterruptedWrites} is given. */
export interface RecoveryOptions {
  /** Data folder of the server, which no other process uses. */
  readonly dataDir: string;
  readonly logger: Logger;
}

/**
 * Ends the writes in place that a dead server of this data folder has left in the middle. To be called before files are
 * written. A file that somebody has changed since stays as it is. Never rejects: what cannot be done now is logged and
 * left to the next start.
 */
export async function recoverInterruptedWrites({ dataDir, logger }: RecoveryOptions): Promise<void> {
  const folder = writeJournalFolder(dataDir);
  const names = await readdir(folder).catch((cause: unknown) => {
    if (systemCodeOf(cause) !== "ENOENT") logger.error({ folder, cause }, "records of writes cannot be read");
    return [];
  });
  for (const name of names) {
    const record = join(folder, name);
    try {
      const direction = directionOf(name);
      if (direction !== undefined) await recover(record, direction, logger);
      await unlink(record);
    } catch (cause) {
      logger.error({ record, cause }, "a write that was interrupted could not be ended");
    }
  }
}

/** Undefined: nothing was written yet. */
function directionOf(name: string): WriteDirection | undefined {
  if (name.endsWith(recordEndings.forward)) return "forward";
  return name.endsWith(recordEndings.back) ? "back" : undefined;
}

/** Resolves when the record is of no use any more. */
async function recover(recordPath: string, direction: WriteDirection, logger: Logger): Promise<void> {
  const write = await readRecord(recordPath);
  if (write === undefined) {
    logger.warn({ record: recordPath }, "a record of a write cannot be understood");
    return;
  }
  const { path } = write;
  const file = await openTarget(path);
  if (file === undefined) {
    logger.warn({ path }, "a file whose write was interrupted is not there any more");
    return;
  }
  try {
    const now = await readNow(file, write);
    if (now === undefined || !isInterrupted(now, write, direction)) {
      if (now?.equals(write.before) !== true && now?.equals(write.after) !== true) {
        logger.warn({ path }, "a file whose write was interrupted has been changed since and stays as it is");
      }
      return;
    }
    const content = direction === "forward" ? write.after : write.before;
    await writeAt(file, content, 0);
    await file.truncate(content.length);
    await file.sync();
    logger.info({ path, direction }, "a write that was interrupted has been ended");
  } finally {
    await file.close();
  }
}

/** Undefined: there is none, or something else has its name. */
async function openTarget(path: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  try {
    return await open(path, flags);
  } catch (cause) {
    if (["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "ENXIO"].includes(systemCodeOf(cause) ?? ""))
      return undefined;
    throw cause;
  }
}

/** Undefined: nothing that was ever written there. */
async function readNow(file: FileHandle, { before, after }: InPlaceWrite): Promise<Buffer | undefined> {
  const stats = await file.stat();
  if (!stats.isFile() || stats.size > Math.max(before.length, after.length)) return undefined;
  return await file.readFile();
}
