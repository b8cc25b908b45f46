import { type Clock, sleep } from "@trivium/core";
import { isDoubtfulLoss } from "./connection-loss.ts";

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** A fault of the server comes again: after so many in a row it is one. */
const MAX_DOUBTFUL_FAILURES = 5;

/** What delays are made with. */
export interface BackOffDeps {
  readonly clock: Clock;
  /** 0 to 1; spreads the attempts of many clients. */
  readonly random: () => number;
}

/** The pauses between attempts at one thing: longer with each failure, until an attempt succeeds. */
export class BackOff {
  readonly #deps: BackOffDeps;
  #failures = 0;
  #doubtful = 0;

  constructor(deps: BackOffDeps) {
    this.#deps = deps;
  }

  /** An attempt came to something. */
  succeeded(): void {
    this.#failures = 0;
    this.#doubtful = 0;
  }

  /** Counts a failure. False: another attempt would end the same way. */
  isWorthRetrying(error: unknown): boolean {
    if (!isDoubtfulLoss(error)) return true;
    this.#doubtful += 1;
    return this.#doubtful < MAX_DOUBTFUL_FAILURES;
  }

  /** Waits for the time of the next attempt, or until the signal aborts. */
  async pause(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps;
    const longestMs = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS);
    this.#failures += 1;
    // Half of it at least: a server that is gone is not to be hammered.
    await sleep(clock, longestMs * (0.5 + random() / 2), signal).catch(() => {
      // Aborted while waiting: the caller looks at the signal.
    });
  }
}
