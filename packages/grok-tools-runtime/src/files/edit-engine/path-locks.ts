import { abortable } from "@trivium/core";

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
    const before = this.#tails.get(path) ?? Promise.resolve();
    const tail = before.then(() => released);
    this.#tails.set(path, tail);
    void tail.then(() => {
      if (this.#tails.get(path) === tail) this.#tails.delete(path);
    });
    try {
      await (signal === undefined ? before : abortable(before, signal));
    } catch (reason) {
      // Those behind still wait for the ones before, since `tail` continues only after `before`.
      release();
      throw reason;
    }
    return { [Symbol.dispose]: release };
  }
}
