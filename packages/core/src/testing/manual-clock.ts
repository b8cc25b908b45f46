import type { Clock } from "../clock.ts";

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  #nowMs: number;
  #timers: { dueMs: number; order: number; callback: () => void }[] = [];
  #order = 0;

  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  /** Timers that have not fired. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  setTimer(delayMs: number, callback: () => void): Disposable {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, callback };
    this.#timers.push(timer);
    return {
      [Symbol.dispose]: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  /**
   * Moves time forward, firing timers in order, and lets promise reactions run after each of them.
   * Timers set by those reactions fire too when they fall into the span.
   */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    for (;;) {
      await settle();
      const [next] = this.#timers
        .filter((timer) => timer.dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
    }
    this.#nowMs = untilMs;
  }
}

/** A macrotask: everything that is only waiting for promises has run by then. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => {
      port1.close();
      resolve();
    };
    port1.postMessage(undefined);
  });
}
