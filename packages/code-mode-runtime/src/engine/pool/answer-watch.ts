import type { Clock } from "@trivium/core";

/** How often a worker is asked. */
const askMs = 1_000;
/** Questions without an answer after which it has come to a standstill. Counted, so that a busy server blames nobody. */
const maxUnanswered = 5;

/** Asks a worker again and again for as long as it is wanted, and tells when it no longer answers. */
export class AnswerWatch implements Disposable {
  readonly #clock: Clock;
  readonly #worker: {
    /** Whether there is a reason to ask. */
    isWanted(): boolean;
    ask(): void;
    isSilent(): void;
  };
  #timer: Disposable | undefined;
  #unanswered = 0;

  constructor(
    clock: Clock,
    worker: { readonly isWanted: () => boolean; readonly ask: () => void; readonly isSilent: () => void },
  ) {
    this.#clock = clock;
    this.#worker = worker;
  }

  /** Begins to ask, if it does not yet. A question that is open is waited for in any case. */
  start(): void {
    this.#timer ??= this.#clock.setTimer(askMs, () => {
      this.#timer = undefined;
      if (this.#unanswered >= maxUnanswered) {
        this.#worker.isSilent();
        return;
      }
      if (!this.#worker.isWanted() && this.#unanswered === 0) return;
      this.#unanswered += 1;
      this.#worker.ask();
      this.start();
    });
  }

  /** The worker has said something, whatever it was. */
  heard(): void {
    this.#unanswered = 0;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}
