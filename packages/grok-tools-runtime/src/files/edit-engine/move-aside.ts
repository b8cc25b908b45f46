import { rename, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { OpenFolder } from "../open-folder.ts";
import type { Roots } from "../path-jail.ts";
import { type CurrentFile, readCurrentFile } from "./current-file.ts";
import { linkAsNew } from "./write-file.ts";

/** A file, or a symbolic link to it, that is to be removed. */
export interface PendingRemoval {
  /** Absolute; only its last part may be a link. */
  readonly name: string;
  /** What is behind the name. */
  readonly expected: CurrentFile;
  readonly roots: Roots;
  /** Unused name beside it. */
  readonly temporaryName: string;
}

/**
 * A file under another name in its folder: gone for everybody else, and put back without loss until it is discarded.
 */
export class FileMovedAside {
  readonly #removal: PendingRemoval;

  private constructor(removal: PendingRemoval) {
    this.#removal = removal;
  }

  /**
   * Moves a file aside. Undefined when the name no longer leads to what was expected; nothing happened then.
   *
   * @throws {@link TriviumError} `permissionDenied` outside the roots, or the file system's error.
   */
  static async move(removal: PendingRemoval): Promise<FileMovedAside | undefined> {
    const { expected, roots } = removal;
    await using folder = await openFolderOf(removal);
    const name = folder.entry(basename(removal.name));
    const now = await readCurrentFile(removal.name, roots);
    if (now?.sha256 !== expected.sha256) return undefined;
    await rename(name, folder.entry(removal.temporaryName));
    return new FileMovedAside(removal);
  }

  /** Puts it back. False when its name is taken by now. */
  async restore(): Promise<boolean> {
    await using folder = await openFolderOf(this.#removal);
    const aside = folder.entry(this.#removal.temporaryName);
    if (!(await linkAsNew(aside, folder.entry(basename(this.#removal.name))))) return false;
    // A file system without links has renamed it.
    await unlink(aside).catch(() => undefined);
    return true;
  }

  /** Removes it for good. */
  async discard(): Promise<void> {
    await using folder = await openFolderOf(this.#removal);
    await unlink(folder.entry(this.#removal.temporaryName));
  }
}

async function openFolderOf({ name, roots }: PendingRemoval): Promise<OpenFolder> {
  return await OpenFolder.open(dirname(name), { roots });
}
