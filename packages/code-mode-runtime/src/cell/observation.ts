import type { Clock } from "@trivium/core";
import type { CellOutcome } from "./outcome.ts";

/** What an observer asks for. */
export interface ObservationRequest {
  /** Budget of the answer in bounded sessions, in tokens of about four bytes. */
  readonly maxOutputTokens?: number | undefined;
}

/**
 * One pending answer about a cell: the first outcome of an Execute, a Wait or a Terminate.
 *
 * It settles once: with an outcome, with undefined when the session ended first, or with an error.
 */
export class Observation {
  readonly maxOutputTokens: number | undefined;
  readonly startedMs: number;
  readonly promise: Promise<CellOutcome | undefined>;
  readonly #clock: Clock;
  readonly #resolvers: PromiseWithResolvers<CellOutcome | undefined>;
  #dueMs = Number.POSITIVE_INFINITY;
  #timer: Disposable | undefined;

  constructor(clock: Clock, request: ObservationRequest) {
    this.#clock = clock;
    this.maxOutputTokens = request.maxOutputTokens;
    this.startedMs = clock.monotonic();
    this.#resolvers = Promise.withResolvers();
    this.promise = this.#resolvers.promise;
    // An observer that has gone away does not await it.
    this.promise.catch(() => {});
  }

  /** From now on the observation ends after `yieldMs`: `onDue` is called then. */
  arm(yieldMs: number, onDue: () => void): void {
    this.#dueMs = this.#clock.monotonic() + yieldMs;
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.setTimer(yieldMs, onDue);
  }

  /** True when the deadline has passed, even if the timer has not fired yet. */
  get isDue(): boolean {
    return this.#clock.monotonic() >= this.#dueMs;
  }

  /** Settles with what `toOutcome` gives or throws. */
  settle(toOutcome: () => CellOutcome | undefined): void {
    this.#timer?.[Symbol.dispose]();
    try {
      this.#resolvers.resolve(toOutcome());
    } catch (thrown) {
      this.#resolvers.reject(thrown);
    }
  }

  fail(error: Error): void {
    this.#timer?.[Symbol.dispose]();
    this.#resolvers.reject(error);
  }
}
