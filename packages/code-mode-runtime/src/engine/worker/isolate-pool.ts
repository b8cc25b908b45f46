import { Isolate, type IsolateMemory } from "./isolate.ts";
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
/** How long an isolate may take to let go of its cell: what the program left behind may keep it busy for ever. */
const leaveMs = 1_000;

interface Kept {
  readonly sessionKey: string;
  readonly isolate: Isolate;
  readonly heldBytes: number;
  readonly timer: NodeJS.Timeout;
}

/** An isolate that is letting go of its cell. */
interface Returning {
  readonly sessionKey: string;
  readonly isolate: Isolate;
  readonly done: PromiseWithResolvers<void>;
  isReleased: boolean;
}

/** Gives isolates to cells, and keeps them for the next cell of the same session, never for another's. */
export class IsolatePool {
  readonly #library: IsolatedVm;
  readonly #defaultHeapLimitBytes: number;
  readonly #onCatastrophe: (message: string) => void;
  readonly #dispose: (isolate: Isolate) => void;
  readonly #prepared: Isolate[] = [];
  readonly #returning = new Set<Returning>();
  /** Oldest first. */
  readonly #kept = new Set<Kept>();
  #keptBytes = 0;
  #isRefilling = false;

  /** @param dispose ends an isolate and sees to it that its thread comes back */
  constructor(
    library: IsolatedVm,
    defaultHeapLimitBytes: number,
    events: {
      readonly onCatastrophe: (message: string) => void;
      readonly dispose: (isolate: Isolate) => void;
    },
  ) {
    this.#library = library;
    this.#defaultHeapLimitBytes = defaultHeapLimitBytes;
    this.#onCatastrophe = events.onCatastrophe;
    this.#dispose = events.dispose;
  }

  /** Makes the first isolate. A worker that cannot must fail before it says that it is ready. */
  async warmUp(): Promise<void> {
    this.#prepared.push(await this.#create(this.#defaultHeapLimitBytes));
    this.#refillLater();
  }

  /** An isolate for one cell. `isSingleUse`: one that no other cell has used. */
  async take(sessionKey: string, heapLimitBytes: number, isSingleUse: boolean): Promise<Isolate> {
    if (!isSingleUse) {
      // The session's last cell has ended a moment ago: waiting is cheaper than another isolate.
      if (!this.#holds(sessionKey)) await this.#whenReturned(sessionKey);
      for (const kept of this.#kept) {
        if (kept.sessionKey !== sessionKey || kept.isolate.heapLimitBytes !== heapLimitBytes) continue;
        this.#forget(kept);
        return kept.isolate;
      }
    }
    const prepared = heapLimitBytes === this.#defaultHeapLimitBytes ? this.#prepared.pop() : undefined;
    this.#refillLater();
    return prepared ?? this.#create(heapLimitBytes);
  }

  /** Keeps an isolate whose cell has ended cleanly, once it has let go of it and unless it has served enough. */
  giveBack(sessionKey: string, isolate: Isolate): void {
    const returning = { sessionKey, isolate, done: Promise.withResolvers<void>(), isReleased: false };
    this.#returning.add(returning);
    void this.#settle(returning).finally(() => {
      this.#returning.delete(returning);
      returning.done.resolve();
    });
  }

  async #settle(returning: Returning): Promise<void> {
    const { isolate } = returning;
    // Its own tasks fail when it is disposed of, so nothing waits for longer.
    const timer = setTimeout(() => this.#dispose(isolate), leaveMs);
    let memory: IsolateMemory | undefined;
    try {
      [, memory] = await Promise.all([isolate.endCell(), isolate.memory()]);
    } catch {
      // Disposed of, or out of memory: it is given up.
    } finally {
      clearTimeout(timer);
    }
    if (isolate.isDisposed) return;
    if (memory === undefined || this.#isWorn(returning, memory)) this.#dispose(isolate);
    else this.#keep(returning, memory.heldBytes);
  }

  #isWorn({ sessionKey, isolate, isReleased }: Returning, { heldBytes, usedBytes }: IsolateMemory): boolean {
    return (
      isReleased ||
      isolate.cellCount >= maxCellsPerIsolate ||
      usedBytes > isolate.heapLimitBytes * maxUsedShare ||
      heldBytes > maxKeptBytes ||
      this.#holds(sessionKey)
    );
  }

  #keep({ sessionKey, isolate }: Returning, heldBytes: number): void {
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
      if (this.#kept.has(kept)) isolate.prepare().catch(() => this.#drop(kept));
    });
  }

  releaseSession(sessionKey: string): void {
    for (const kept of this.#kept) if (kept.sessionKey === sessionKey) this.#drop(kept);
    for (const returning of this.#returning) {
      if (returning.sessionKey === sessionKey) returning.isReleased = true;
    }
  }

  async #whenReturned(sessionKey: string): Promise<void> {
    for (const returning of this.#returning) {
      if (returning.sessionKey === sessionKey) await returning.done.promise;
    }
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
    if (!this.#kept.has(kept)) return;
    this.#forget(kept);
    this.#dispose(kept.isolate);
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
