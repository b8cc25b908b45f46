import { abortReason } from "@trivium/core";

type Waiter = {
  readonly mode: "counted" | "uncounted" | "exclusive";
  readonly start: () => void;
};

/** Calls of one session that run at once. */
const MAX_COUNTED_CALLS = 64;

/**
 * Admits the calls of a session in their order: up to 64 that count, any number that do not (commands, waits), and
 * snapshots that need to be alone. Calls that come after a waiting snapshot wait behind it.
 */
export class CallGate {
  readonly #waiters: Waiter[] = [];
  #counted = 0;
  #uncounted = 0;
  #isExclusive = false;

  /** Calls inside, snapshots not included. */
  get activeCalls(): number {
    return this.#counted + this.#uncounted;
  }

  /**
   * Waits for admission. Disposing the result lets the next one in.
   *
   * @throws the reason of `signal` when it aborts first.
   */
  enter(mode: Waiter["mode"], signal: AbortSignal): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const waiter: Waiter = {
        mode,
        start: () => {
          signal.removeEventListener("abort", onAbort);
          resolve(this.#pass(mode));
        },
      };
      const onAbort = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(abortReason(signal));
        this.#admit();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.push(waiter);
      this.#admit();
    });
  }

  #pass(mode: Waiter["mode"]): Disposable {
    let isInside = true;
    return {
      [Symbol.dispose]: () => {
        if (!isInside) return;
        isInside = false;
        if (mode === "counted") this.#counted--;
        else if (mode === "uncounted") this.#uncounted--;
        else this.#isExclusive = false;
        this.#admit();
      },
    };
  }

  #admit(): void {
    let index = 0;
    while (!this.#isExclusive) {
      const waiter = this.#waiters[index];
      if (waiter === undefined) return;
      if (waiter.mode === "exclusive") {
        // Alone means: nothing inside, and nothing before it in the queue.
        if (index > 0 || this.activeCalls > 0) return;
        this.#isExclusive = true;
      } else if (waiter.mode === "uncounted") {
        this.#uncounted++;
      } else if (this.#counted < MAX_COUNTED_CALLS) {
        this.#counted++;
      } else {
        index++;
        continue;
      }
      this.#waiters.splice(index, 1);
      waiter.start();
    }
  }
}
