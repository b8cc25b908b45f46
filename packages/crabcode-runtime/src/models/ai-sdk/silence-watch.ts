import { abortReason, type Clock } from "@trivium/core";
import type { ModelFailure } from "../../ports/model-port.ts";

/** A signal that aborts with another one, or when nothing was heard for a time. Disposing it ends both. */
export class SilenceWatch implements Disposable {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #source: AbortSignal;
  readonly #onAbort = (): void => this.#controller.abort(abortReason(this.#source));
  #timer: Disposable | undefined;
  #isSilent = false;

  /** @param limitMs longest silence, counted from now */
  constructor(clock: Clock, limitMs: number, source: AbortSignal) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#source = source;
    if (source.aborted) this.#onAbort();
    else source.addEventListener("abort", this.#onAbort, { once: true });
    this.reset();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What to report when the silence lasted too long; undefined before that. */
  get failure(): ModelFailure | undefined {
    if (!this.#isSilent) return undefined;
    const message = `the provider sent nothing for ${this.#limitMs / 1000} s`;
    return { type: "error", kind: "transient", message };
  }

  /** Something was heard. */
  reset(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.setTimer(this.#limitMs, () => {
      this.#isSilent = true;
      this.#controller.abort(new DOMException("the provider is silent", "TimeoutError"));
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#source.removeEventListener("abort", this.#onAbort);
    // Whatever still runs of the request has no reader any more.
    this.#controller.abort(new DOMException("the request is over", "AbortError"));
  }
}
