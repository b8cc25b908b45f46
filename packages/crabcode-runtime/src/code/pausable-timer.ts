import type { Clock } from "@trivium/core";

/** A timer that can stand still. */
export class PausableTimer implements Disposable {
  readonly #clock: Clock;
  readonly #callback: () => void;
  #remainingMs: number;
  #startedMs = 0;
  #timer: Disposable | undefined;

  /** Runs from {@link PausableTimer.resume} on. */
  constructor(clock: Clock, delayMs: number, callback: () => void) {
    this.#clock = clock;
    this.#remainingMs = delayMs;
    this.#callback = callback;
  }

  resume(): void {
    if (this.#timer !== undefined) return;
    this.#startedMs = this.#clock.monotonic();
    this.#timer = this.#clock.setTimer(this.#remainingMs, this.#callback);
  }

  pause(): void {
    if (this.#timer === undefined) return;
    this.#timer[Symbol.dispose]();
    this.#timer = undefined;
    this.#remainingMs = Math.max(0, this.#remainingMs - (this.#clock.monotonic() - this.#startedMs));
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
