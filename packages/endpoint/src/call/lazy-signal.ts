/** An abort signal that is made only for those who look at it: most short calls are over without. */
export class LazySignal {
  #controller: AbortController | undefined;
  #isAborted = false;
  #reason: unknown;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stays. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
