import { Isolate } from "./isolate.ts";
import type { IsolatedVm } from "./load-isolated-vm.ts";

/** Isolates that wait for the first cell of some session. */
const preparedCount = 2;
const refillDelayMs = 10;
/** An isolate is given up after so many cells, */
const maxCellsPerIsolate = 500;
/** when it holds more than this share of its limit after a cell, */
const maxUsedShare = 0.25;
/** or when its session has not needed it for so long. */
const idleMs = 60_000;
/** Isolates that wait for the next cell of their sessions, in one worker. */
const maxKept = 64;
/** What they may hold in all: it counts towards the memory of the worker, and no cell owns it. */
const maxKeptBytes = 160 * 1024 * 1024;

interface Kept {
  readonly sessionKey: string;
  readonly isolate: Isolate;
  readonly heldBytes: number;
  readonly timer: NodeJS.Timeout;
}

/** Gives isolates to cells, and keeps them for the next cell of the same session, never for another's. */
export class IsolatePool {
  readonly #library: IsolatedVm;
  readonly #defaultHeapLimitBytes: number;
  readonly #onCatastrophe: (message: string) => void;
  readonly #prepared: Isolate[] = [];
  /** Oldest first. */
  readonly #kept = new Set<Kept>();
  #keptBytes = 0;
  #isRefilling = false;

  constructor(library: IsolatedVm, defaultHeapLimitBytes: number, onCatastrophe: (message: string) => void) {
    this.#library = library;
    this.#defaultHeapLimitBytes = defaultHeapLimitBytes;
    this.#onCatastrophe = onCatastrophe;
  }

  /** Makes the first isolate. A worker that cannot must fail before it says that it is ready. */
  async warmUp(): Promise<void> {
    this.#prepared.push(await this.#create(this.#defaultHeapLimitBytes));
    this.#refillLater();
  }

  /** An idle isolate for one cell. `isSingleUse`: one that no other cell has used. */
  async take(sessionKey: string, heapLimitBytes: number, isSingleUse: boolean): Promise<Isolate> {
    for (const kept of this.#kept) {
      if (isSingleUse || kept.sessionKey !== sessionKey || kept.isolate.heapLimitBytes !== heapLimitBytes)
        continue;
      this.#forget(kept);
      return kept.isolate;
    }
    const prepared = heapLimitBytes === this.#defaultHeapLimitBytes ? this.#prepared.pop() : undefined;
    this.#refillLater();
    return prepared ?? this.#create(heapLimitBytes);
  }

  /** Keeps an idle isolate whose cell has ended cleanly, unless it has served enough. */
  giveBack(sessionKey: string, isolate: Isolate): void {
    const { heldBytes, usedBytes } = isolate.memory();
    const isWorn =
      isolate.cellCount >= maxCellsPerIsolate ||
      usedBytes > isolate.heapLimitBytes * maxUsedShare ||
      heldBytes > maxKeptBytes ||
      this.#holds(sessionKey);
    if (isWorn) {
      isolate.dispose();
      return;
    }
    const kept: Kept = {
      sessionKey,
      isolate,
      heldBytes,
      timer: setTimeout(() => this.#drop(kept), idleMs),
    };
    this.#kept.add(kept);
    this.#keptBytes += heldBytes;
    for (const oldest of this.#kept) {
      if (this.#kept.size <= maxKept && this.#keptBytes <= maxKeptBytes) break;
      this.#drop(oldest);
    }
    setImmediate(() => {
      // The session's next cell may have taken it already.
      if (this.#kept.has(kept)) isolate.prepare();
    });
  }

  releaseSession(sessionKey: string): void {
    for (const kept of this.#kept) if (kept.sessionKey === sessionKey) this.#drop(kept);
  }

  #holds(sessionKey: string): boolean {
    for (const kept of this.#kept) if (kept.sessionKey === sessionKey) return true;
    return false;
  }

  #forget(kept: Kept): void {
    clearTimeout(kept.timer);
    this.#kept.delete(kept);
    this.#keptBytes -= kept.heldBytes;
  }

  #drop(kept: Kept): void {
    this.#forget(kept);
    kept.isolate.dispose();
  }

  #create(heapLimitBytes: number): Promise<Isolate> {
    return Isolate.create(this.#library, heapLimitBytes, this.#onCatastrophe);
  }

  /** One at a time, and not while the cell that has just asked starts: making one takes as long as several cells. */
  #refillLater(): void {
    if (this.#isRefilling || this.#prepared.length >= preparedCount) return;
    this.#isRefilling = true;
    setTimeout(() => void this.#refill(), refillDelayMs);
  }

  async #refill(): Promise<void> {
    this.#prepared.push(await this.#create(this.#defaultHeapLimitBytes));
    this.#isRefilling = false;
    this.#refillLater();
  }
}
