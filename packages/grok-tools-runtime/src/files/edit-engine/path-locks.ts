import { abortReason } from "@trivium/core";

/** Exclusive use of paths inside this process, first come, first served for each path. */
export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Waits for the path and takes it; disposing the result passes it on.
   *
   * @throws the reason of `signal` when it aborts while waiting; the place in the queue is given up.
   */
  async acquire(path: string, signal?: AbortSignal): Promise<Disposable> {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const before = this.#tails.get(path);
    const tail = before === undefined ? released : before.then(() => released);
    this.#tails.set(path, tail);
    const pass = (): void => {
      release();
      if (this.#tails.get(path) === tail) this.#tails.delete(path);
    };
    try {
      if (before !== undefined) await orAborted(before, signal);
      signal?.throwIfAborted();
    } catch (reason) {
      // Those behind still wait for the ones before: `tail` continues only after `before`.
      release();
      if (before === undefined) pass();
      throw reason;
    }
    return { [Symbol.dispose]: pass };
  }
}

function orAborted(turn: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return turn;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    void turn.then(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
