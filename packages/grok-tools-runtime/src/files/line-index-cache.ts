import type { Stats } from "node:fs";
import type { ResourceDefinition } from "../session-resource.ts";
import { LineIndex } from "./line-index.ts";
import type { DetectedEncoding } from "./text-encoding.ts";

/** Indexes kept per session; each costs eight bytes for every 256 KiB of its file. */
const MAX_INDEXES = 16;

interface CachedIndex {
  readonly identity: string;
  readonly index: LineIndex;
}

/** Line indexes of large files, so that repeated reads of one do not count its lines again. */
export class LineIndexCache {
  readonly #indexes = new Map<string, CachedIndex>();

  /** The index of a file in exactly this state; a new one when there is none. */
  indexOf(path: string, stats: Stats, detected: DetectedEncoding): LineIndex {
    const identity = [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs, detected.encoding].join(
      ":",
    );
    const cached = this.#indexes.get(path);
    const index = cached?.identity === identity ? cached.index : new LineIndex(stats.size, detected);
    this.#indexes.delete(path);
    this.#indexes.set(path, { identity, index });
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= MAX_INDEXES) break;
      this.#indexes.delete(oldest);
    }
    return index;
  }
}

/** The line indexes of a session. */
export const lineIndexCache: ResourceDefinition<LineIndexCache> = {
  name: "line indexes",
  create: () => new LineIndexCache(),
};
