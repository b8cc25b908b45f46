import type { IdSource } from "@trivium/core";
import type { Roots } from "../path-jail.ts";
import { type CurrentFile, readCurrentFile } from "./current-file.ts";
import { temporaryNameOf } from "./leftover-sweep.ts";
import { removeEmptyFolders } from "./made-folders.ts";
import { FileMovedAside } from "./move-aside.ts";
import { writeFileInPlaceOf } from "./write-file.ts";
import type { WriteJournal } from "./write-journal.ts";

/** Which files have their old content again. Absolute paths, in the order of the changes. */
export interface UndoReport {
  readonly restored: readonly string[];
  /** Changed by somebody else meanwhile, or not writable any more. */
  readonly notRestored: readonly string[];
}

/** A file that was written. */
export interface WrittenFile {
  readonly path: string;
  /** What it was; undefined: there was none. */
  readonly before: CurrentFile | undefined;
  readonly afterSha256: string;
}

/** How an {@link UndoLog} writes. */
export interface UndoOptions {
  readonly roots: Roots;
  readonly isDurable: boolean;
  readonly ids: IdSource;
  readonly journal: WriteJournal | undefined;
}

type Undo = { readonly path: string; readonly run: () => Promise<boolean> };

/** What was done to a set of files, so that it can be taken back. */
export class UndoLog {
  readonly #options: UndoOptions;
  readonly #undos: Undo[] = [];
  readonly #aside: FileMovedAside[] = [];
  readonly #folders: string[] = [];

  constructor(options: UndoOptions) {
    this.#options = options;
  }

  /** Notes folders that are about to be made, the innermost first. */
  addFolders(folders: readonly string[]): void {
    this.#folders.unshift(...folders);
  }

  addWrite(written: WrittenFile): void {
    this.#undos.push({ path: written.path, run: () => this.#undoWrite(written) });
  }

  addRemoval(path: string, aside: FileMovedAside): void {
    this.#aside.push(aside);
    this.#undos.push({ path, run: () => aside.restore() });
  }

  /** Takes everything back, the last change first. Never fails: what cannot be taken back is reported. */
  async undo(): Promise<UndoReport> {
    const restored: string[] = [];
    const notRestored: string[] = [];
    for (const { path, run } of this.#undos.toReversed()) {
      const isRestored = await run().catch(() => false);
      (isRestored ? restored : notRestored).unshift(path);
    }
    await removeEmptyFolders(this.#folders);
    return { restored, notRestored };
  }

  /** Gives up the means to take it back. */
  async forget(): Promise<void> {
    // A leftover is swept by the next edit in its folder.
    for (const aside of this.#aside) await aside.discard().catch(() => undefined);
  }

  async #undoWrite({ path, before, afterSha256 }: WrittenFile): Promise<boolean> {
    const { roots, isDurable, ids, journal } = this.#options;
    const now = await readCurrentFile(path, roots);
    if (now?.sha256 !== afterSha256) return false;
    const temporaryName = temporaryNameOf(ids);
    if (before !== undefined) {
      return await writeFileInPlaceOf({
        path,
        content: before.bytes,
        expected: now,
        roots,
        isDurable,
        temporaryName,
        journal,
      });
    }
    const aside = await FileMovedAside.move({ name: path, expected: now, roots, temporaryName });
    await aside?.discard();
    return aside !== undefined;
  }
}
