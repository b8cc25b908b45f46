import type { Stats } from "node:fs";
import type { CurrentFile } from "../../../files/edit-engine/current-file.ts";
import type { FileChange, ReadAttempt } from "../../../files/edit-engine/file-set-editor.ts";
import { sha256Of } from "../../../files/edit-engine/splice.ts";
import type { PatchTarget } from "./patch-target.ts";

/** Content of a file as the operations so far have left it. */
export interface OverlayFile {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  /** Of the file on the disk that it comes from. */
  readonly stats: Stats | undefined;
}

interface Entry {
  readonly original: CurrentFile | undefined;
  readonly current: OverlayFile | undefined;
}

/** Files in memory: each operation of a patch sees what those before it did, and nothing is written. */
export class FileOverlay {
  readonly #files: ReadonlyMap<string, ReadAttempt>;
  /** By path, in the order in which they were last touched. */
  readonly #entries = new Map<string, Entry>();
  /** Symbolic links that go, with the path of their target. */
  readonly #removedLinks = new Map<string, string>();
  readonly #changes: (() => FileChange | undefined)[] = [];

  constructor(files: ReadonlyMap<string, ReadAttempt>) {
    this.#files = files;
  }

  /**
   * The content of a file; undefined when there is none.
   *
   * @throws what reading it threw.
   */
  read({ path, entry }: PatchTarget): OverlayFile | undefined {
    if (this.#removedLinks.has(entry)) return undefined;
    return this.#entryOf(path).current;
  }

  /** Whether the name was a symbolic link that an earlier operation removed. */
  isRemovedLink({ entry }: PatchTarget): boolean {
    return this.#removedLinks.has(entry);
  }

  write({ path }: PatchTarget, bytes: Uint8Array, stats: Stats | undefined): OverlayFile {
    const written = { bytes, sha256: sha256Of(bytes), stats };
    this.#touch(path, { ...this.#entryOf(path), current: written });
    return written;
  }

  /** Removes a name. The target of a symbolic link stays. */
  remove({ path, entry }: PatchTarget): void {
    if (entry !== path) {
      this.#removedLinks.set(entry, path);
      this.#changes.push(() => ({ kind: "remove", path, name: entry }));
    } else {
      this.#touch(path, { ...this.#entryOf(path), current: undefined });
    }
  }

  /** What is to be done, each file once, in the order of the operations. */
  changes(): FileChange[] {
    return this.#changes.map((toChange) => toChange()).filter((change) => change !== undefined);
  }

  #entryOf(path: string): Entry {
    const known = this.#entries.get(path);
    if (known !== undefined) return known;
    const attempt = this.#files.get(path);
    if (attempt === undefined) throw new TypeError(`${path} was not read`);
    if (attempt.kind === "failed") throw attempt.cause;
    return { original: attempt.file, current: attempt.file };
  }

  #touch(path: string, entry: Entry): void {
    this.#entries.set(path, entry);
    // Only the last operation on a file knows what becomes of it.
    this.#changes.push(() => (this.#entries.get(path) === entry ? toChange(path, entry) : undefined));
  }
}

function toChange(path: string, { original, current }: Entry): FileChange | undefined {
  if (current === undefined) {
    return original === undefined ? undefined : { kind: "remove", path, name: path };
  }
  if (current.sha256 === original?.sha256) return undefined;
  return { kind: "write", path, content: current.bytes, likeness: current.stats };
}
