import type { Stats } from "node:fs";
import { isJsonObject, type JsonValue } from "../json.ts";
import type { ResourceDefinition } from "../session-resource.ts";

/** What is remembered about a file that was read or written. */
export interface TrackedRead {
  readonly mtimeMs: number;
  readonly sizeBytes: number;
  /** Of the whole content, hexadecimal; undefined for a file that was too large to be hashed on the way. */
  readonly sha256: string | undefined;
  /** Lines that were shown, from 1, both ends included, merged and ascending. */
  readonly ranges: readonly LineRange[];
}

export type LineRange = readonly [firstLine: number, lastLine: number];

/** A file as a tool has just seen it. */
export interface SeenFile {
  readonly path: string;
  readonly stats: Pick<Stats, "mtimeMs" | "size">;
  readonly sha256: string | undefined;
  /** Undefined: no particular lines, for example after a write of our own. */
  readonly range?: LineRange | undefined;
}

/** How a file compares with what was read of it. */
export type ReadState = "never-read" | "unchanged" | "changed";

/** Files kept per session; the ones untouched for longest are forgotten. */
const MAX_TRACKED_FILES = 10_000;

/** Remembers which files a session has seen, and in which state. */
export class FileReadTracker {
  readonly #reads = new Map<string, TrackedRead>();

  /** Notes a read, or an own write. */
  record({ path, stats, sha256, range }: SeenFile): void {
    const before = this.#reads.get(path);
    const isSame = before !== undefined && before.sha256 === sha256 && before.sizeBytes === stats.size;
    const ranges = mergeRanges([...(isSame ? before.ranges : []), ...(range === undefined ? [] : [range])]);
    this.#reads.delete(path);
    this.#reads.set(path, { mtimeMs: Math.floor(stats.mtimeMs), sizeBytes: stats.size, sha256, ranges });
    for (const oldest of this.#reads.keys()) {
      if (this.#reads.size <= MAX_TRACKED_FILES) break;
      this.#reads.delete(oldest);
    }
  }

  /** Compares by content; by size and time where the content was not hashed. */
  stateOf({ path, stats, sha256 }: SeenFile): ReadState {
    const read = this.#reads.get(path);
    if (read === undefined) return "never-read";
    const isSame =
      read.sha256 === undefined
        ? read.sizeBytes === stats.size && read.mtimeMs === Math.floor(stats.mtimeMs)
        : read.sha256 === sha256;
    return isSame ? "unchanged" : "changed";
  }

  /** `{ "files": { path: { "mtime_ms", "size", "sha256", "ranges" } } }`. */
  save(): JsonValue | undefined {
    if (this.#reads.size === 0) return undefined;
    const files = [...this.#reads].map(
      ([path, { mtimeMs, sizeBytes, sha256, ranges }]): [string, JsonValue] => [
        path,
        { mtime_ms: mtimeMs, size: sizeBytes, sha256: sha256 ?? null, ranges },
      ],
    );
    return { files: Object.fromEntries(files) };
  }

  /** Takes over what {@link save} gave. False when the value is something else; nothing changed then. */
  load(value: JsonValue): boolean {
    if (!isJsonObject(value) || !isJsonObject(value["files"])) return false;
    const loaded = Object.entries(value["files"]).map(
      ([path, entry]) => [path, toTrackedRead(entry)] as const,
    );
    if (loaded.some(([, read]) => read === undefined)) return false;
    this.#reads.clear();
    for (const [path, read] of loaded) if (read !== undefined) this.#reads.set(path, read);
    return true;
  }
}

/** The read tracker of a session. */
export const fileReadTracker: ResourceDefinition<FileReadTracker> = {
  name: "file read tracker",
  create: () => new FileReadTracker(),
  state: {
    key: "trivium.FileReadTracker",
    load: (tracker, value) => tracker.load(value),
    save: (tracker) => tracker.save(),
  },
};

function mergeRanges(ranges: readonly LineRange[]): LineRange[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const previous = merged.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

function toTrackedRead(entry: JsonValue): TrackedRead | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { mtime_ms: mtimeMs, size: sizeBytes, sha256, ranges } = entry;
  if (typeof mtimeMs !== "number" || typeof sizeBytes !== "number" || !Array.isArray(ranges))
    return undefined;
  if (sha256 !== null && typeof sha256 !== "string") return undefined;
  const lineRanges = ranges.map(toLineRange);
  if (!lineRanges.every((range) => range !== undefined)) return undefined;
  return { mtimeMs, sizeBytes, sha256: sha256 ?? undefined, ranges: mergeRanges(lineRanges) };
}

function toLineRange(value: JsonValue): LineRange | undefined {
  if (!Array.isArray(value)) return undefined;
  const [first, last]: readonly JsonValue[] = value;
  return typeof first === "number" && typeof last === "number" ? [first, last] : undefined;
}
