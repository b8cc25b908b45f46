import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, IdSource } from "@trivium/core";

const TEMPORARY_PREFIX = ".trivium-edit-";
const ASIDE_PREFIX = `${TEMPORARY_PREFIX}aside-`;
/** A write takes milliseconds; what is this old was left by a server that died. */
const LEFTOVER_AGE_MS = 60_000;
/** Remembered folders; after that they are looked at again. */
const MAX_FOLDERS = 10_000;

/** Name for a temporary file beside the file that is written. */
export function temporaryNameOf(ids: IdSource): string {
  return `${TEMPORARY_PREFIX}${ids.hex(8)}.tmp`;
}

/** Name for a file that is moved aside before it is removed. */
export function asideNameOf(ids: IdSource): string {
  return `${ASIDE_PREFIX}${ids.hex(8)}.tmp`;
}

/** Removes temporary files of dead servers from the folders that are written to, each looked at once. */
export class LeftoverSweep {
  readonly #clock: Clock;
  readonly #visited = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async visit(folder: string): Promise<void> {
    if (this.#visited.has(folder)) return;
    if (this.#visited.size >= MAX_FOLDERS) this.#visited.clear();
    this.#visited.add(folder);
    // A folder that is not there yet holds nothing; one that cannot be listed is left alone.
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((entry) => entry.startsWith(TEMPORARY_PREFIX))) {
      const path = join(folder, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined || stats.isDirectory()) continue;
      // A file that was moved aside has kept the time of its content.
      const sinceMs = name.startsWith(ASIDE_PREFIX) ? stats.ctimeMs : stats.mtimeMs;
      if (this.#clock.now() - sinceMs <= LEFTOVER_AGE_MS) continue;
      // Another server may sweep the same folder.
      await unlink(path).catch(() => undefined);
    }
  }
}
