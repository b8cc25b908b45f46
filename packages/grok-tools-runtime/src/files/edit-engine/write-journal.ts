import { type FileHandle, open, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type IdSource, TriviumError } from "@trivium/core";
import { makeFolder } from "@trivium/core/node";
import { writeAt } from "./write-at.ts";

/** A file that is written in place. */
export interface InPlaceWrite {
  /** Absolute, of the file itself. */
  readonly path: string;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/** Endings of the names of records: one that is not complete yet, and which content is being written. */
export const recordEndings = { incomplete: ".part", forward: ".forward", back: ".back" } as const;

/** Folder of the records below the data folder. It is not the workspace's: nothing of ours is to be seen there. */
export function writeJournalFolder(dataDir: string): string {
  return join(dataDir, "tools", "writes");
}

/** How a {@link WriteJournal} keeps its records. */
export interface WriteJournalOptions {
  /** Data folder of the server, which no other process uses. */
  readonly dataDir: string;
  readonly ids: IdSource;
}

/**
 * What is being written in place, with both contents, so that the next start can end a write whose process was killed
 * ({@link recoverInterruptedWrites}).
 */
export class WriteJournal {
  readonly #folder: string;
  readonly #ids: IdSource;

  constructor({ dataDir, ids }: WriteJournalOptions) {
    this.#folder = writeJournalFolder(dataDir);
    this.#ids = ids;
  }

  /**
   * Records a write, before anything of it happens. The record is on the disk when this resolves.
   *
   * @throws {@link TriviumError} `internal` when it cannot be kept.
   */
  async begin(write: InPlaceWrite): Promise<WriteRecord> {
    const path = join(this.#folder, this.#ids.hex(8));
    const incomplete = path + recordEndings.incomplete;
    try {
      await makeFolder(this.#folder, 0o700);
      await writeRecord(incomplete, write);
      await rename(incomplete, path + recordEndings.forward);
      await syncFolder(this.#folder);
      return new WriteRecord(this.#folder, path);
    } catch (cause) {
      for (const ending of [recordEndings.incomplete, recordEndings.forward]) {
        await unlink(path + ending).catch(() => undefined);
      }
      const message = `${write.path} can only be written in place, and the data folder cannot take a record of that: ${String(cause)}`;
      throw new TriviumError("internal", message, { cause });
    }
  }
}

/** The record of one write. */
export class WriteRecord {
  readonly #folder: string;
  readonly #path: string;
  #ending: string = recordEndings.forward;

  constructor(folder: string, path: string) {
    this.#folder = folder;
    this.#path = path;
  }

  /** The old content is put back from now on. */
  async turnBack(): Promise<void> {
    await rename(this.#path + this.#ending, this.#path + recordEndings.back);
    this.#ending = recordEndings.back;
    await syncFolder(this.#folder);
  }

  /** The file has one of the contents. A record that stays all the same says the next start nothing new. */
  async end(): Promise<void> {
    await unlink(this.#path + this.#ending).catch(() => undefined);
    await syncFolder(this.#folder).catch(() => undefined);
  }
}

/** Reads a record; undefined when it is none. */
export async function readRecord(path: string): Promise<InPlaceWrite | undefined> {
  const bytes = await readFile(path);
  const end = bytes.indexOf("\n");
  const head = end < 0 ? undefined : toHead(bytes.subarray(0, end).toString());
  if (head === undefined) return undefined;
  const contents = bytes.subarray(end + 1);
  if (contents.length !== head.before + head.after) return undefined;
  return {
    path: head.path,
    before: contents.subarray(0, head.before),
    after: contents.subarray(head.before),
  };
}

/** A line of JSON with the path and both lengths, then both contents. */
async function writeRecord(recordPath: string, { path, before, after }: InPlaceWrite): Promise<void> {
  const head: Head = { path, before: before.length, after: after.length };
  const line = Buffer.from(`${JSON.stringify(head)}\n`);
  const handle = await open(recordPath, "wx", 0o600);
  try {
    await writeAt(handle, line, 0);
    await writeAt(handle, before, line.length);
    await writeAt(handle, after, line.length + before.length);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface Head {
  readonly path: string;
  readonly before: number;
  readonly after: number;
}

function toHead(text: string): Head | undefined {
  try {
    const { path, before, after }: Partial<Record<keyof Head, unknown>> = JSON.parse(text);
    if (typeof path !== "string" || typeof before !== "number" || typeof after !== "number") return undefined;
    return { path, before, after };
  } catch {
    return undefined;
  }
}

/** Names of new files are lost with the power unless their folder is flushed, too. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, "r");
    await handle.sync();
  } catch (cause) {
    // Some systems flush no folders.
    if (process.platform !== "win32") throw cause;
  } finally {
    await handle?.close();
  }
}
