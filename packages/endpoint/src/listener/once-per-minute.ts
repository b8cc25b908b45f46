import type { Clock } from "@trivium/core";

const MINUTE_MS = 60_000;
/** More keys than this in one minute are one flood: it is reported no further. */
const MAX_KEYS = 1_000;

/** Runs something at most once a minute for each key, so that a stubborn peer cannot fill the log. */
export class OncePerMinute {
  readonly #clock: Clock;
  readonly #lastMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  run(key: string, action: () => void): void {
    const nowMs = this.#clock.monotonic();
    for (const [other, lastMs] of this.#lastMs) {
      if (nowMs - lastMs >= MINUTE_MS) this.#lastMs.delete(other);
    }
    if (this.#lastMs.has(key) || this.#lastMs.size >= MAX_KEYS) return;
    this.#lastMs.set(key, nowMs);
    action();
  }
}
