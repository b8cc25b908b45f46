import { readFileSync } from "node:fs";

const pageBytes = 4096;
/** Near its limit an isolate may take this much more for a moment before V8 ends it. */
const spikeBytes = 1024 * 1024 * 1024;
/** Another program is ended only when memory has grown by this much since the last one was. */
const growthBytes = 64 * 1024 * 1024;

/** Resident memory that a worker may hold. */
export interface MemoryBudget {
  /** Bytes beyond the heap limits of its live cells: the process itself, and what V8 does not count. */
  readonly headroomBytes: number;
  /** Bytes in all, however many cells it has. */
  readonly maxBytes: number;
}

/**
 * - `fine`: within the budget
 * - `relieve`: beyond it and growing: end the program that computes
 * - `wait`: beyond it; the ended program's memory may not have come back yet
 * - `kill`: beyond every spike that V8 makes on its own
 */
export type MemoryVerdict = "fine" | "relieve" | "wait" | "kill";

/** Decides what the memory of one worker calls for. */
export class MemoryJudge {
  readonly #budget: MemoryBudget;
  #relievedBytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  judge(bytes: number, heapLimits: readonly number[]): MemoryVerdict {
    let allowed = this.#budget.headroomBytes;
    for (const limit of heapLimits) allowed += limit;
    allowed = Math.min(allowed, this.#budget.maxBytes);
    if (bytes <= allowed) {
      this.#relievedBytes = 0;
      return "fine";
    }
    if (bytes > allowed + spikeBytes) return "kill";
    if (bytes < this.#relievedBytes + growthBytes) return "wait";
    this.#relievedBytes = bytes;
    return "relieve";
  }
}

/** Bytes of resident memory of a process; 0 when it has ended, or where the platform does not tell. */
export function residentBytes(pid: number | undefined): number {
  if (process.platform !== "linux" || pid === undefined) return 0;
  try {
    const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "latin1").split(" ");
    return Number(pages) * pageBytes;
  } catch {
    // It has just ended.
    return 0;
  }
}
