/** What may happen to an event. */
export type EventVerdict =
  | { readonly kind: "tell" /** Events left out before it. */; readonly suppressedCount: number }
  | { readonly kind: "suppress" }
  /** Too many for too long. */
  | { readonly kind: "stop"; readonly suppressedCount: number };

const BURST = 10;
const REFILL_MS = 2000;
const MAX_FLOOD_MS = 30_000;

/**
 * Limits the events of one monitor: ten at once, then one every two seconds. A flood lasts as long as no event goes
 * out without others having been left out before it; one of more than half a minute is to be stopped.
 */
export class EventBudget {
  #tokens = BURST;
  #refilledAtMs: number;
  #suppressedCount = 0;
  #floodStartMs: number | undefined;

  /** @param nowMs time of a clock that never goes back, as in the other calls */
  constructor(nowMs: number) {
    this.#refilledAtMs = nowMs;
  }

  /** Decides about an event that happens now. */
  admit(nowMs: number): EventVerdict {
    this.#refill(nowMs);
    if (this.#tokens === 0) {
      this.#suppressedCount += 1;
      this.#floodStartMs ??= nowMs;
      const isTooLong = nowMs - this.#floodStartMs > MAX_FLOOD_MS;
      return isTooLong ? { kind: "stop", suppressedCount: this.takeSuppressed() } : { kind: "suppress" };
    }
    this.#tokens -= 1;
    const suppressedCount = this.takeSuppressed();
    if (suppressedCount === 0) this.#floodStartMs = undefined;
    return { kind: "tell", suppressedCount };
  }

  /** Events left out that nobody was told of yet. They count as told from now on. */
  takeSuppressed(): number {
    const count = this.#suppressedCount;
    this.#suppressedCount = 0;
    return count;
  }

  #refill(nowMs: number): void {
    const gained = Math.floor((nowMs - this.#refilledAtMs) / REFILL_MS);
    this.#tokens = Math.min(BURST, this.#tokens + gained);
    // A full bucket gains nothing while it waits.
    this.#refilledAtMs = this.#tokens === BURST ? nowMs : this.#refilledAtMs + gained * REFILL_MS;
  }
}
