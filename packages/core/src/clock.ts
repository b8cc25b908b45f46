import { abortReason } from "./abort-reason.ts";

/** Port for time. Packages never read the system clock or set timers directly. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump when the system time is set. */
  now(): number;
  /** Milliseconds that never go backwards; only differences mean something. */
  monotonic(): number;
  /**
   * Runs `callback` once after `delayMs`. Disposing the result before that cancels it; disposing later does
   * nothing. Delays beyond 2^31 - 1 ms are kept, not cut. The timer does not keep the process alive.
   */
  setTimer(delayMs: number, callback: () => void): Disposable;
}

/** The real time of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, callback) => new SystemTimer(delayMs, callback),
};

/** Node and browsers fire at once when a delay does not fit in 31 bits, so longer ones are chained. */
const MAX_TIMER_MS = 2 ** 31 - 1;

class SystemTimer implements Disposable {
  #handle: ReturnType<typeof setTimeout> | undefined;

  constructor(delayMs: number, callback: () => void) {
    this.#arm(Math.max(0, delayMs), callback);
  }

  #arm(remainingMs: number, callback: () => void): void {
    const stepMs = Math.min(remainingMs, MAX_TIMER_MS);
    this.#handle = setTimeout(() => {
      if (remainingMs > stepMs) this.#arm(remainingMs - stepMs, callback);
      else callback();
    }, stepMs);
    // In Node the handle is an object that can let the process end; in browsers it is a number.
    if (typeof this.#handle === "object") this.#handle.unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#handle);
  }
}

/**
 * Waits for `delayMs`.
 *
 * @throws the reason of `signal` when it aborts first; the timer is gone then.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer[Symbol.dispose]();
      if (signal !== undefined) reject(abortReason(signal));
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
