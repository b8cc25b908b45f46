import { Code, ConnectError } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";

/**
 * The signal of a call as the runtime wants it: a lost connection aborts with kind `unavailable`, so that a turn
 * may wait for its client, everything else is a cancel. Disposing it takes its listener away.
 */
export class CallSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #source: AbortSignal;
  readonly #onAbort = (): void => this.#controller.abort(toReason(this.#source.reason));

  constructor(source: AbortSignal) {
    this.#source = source;
    if (source.aborted) this.#onAbort();
    else source.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#source.removeEventListener("abort", this.#onAbort);
  }
}

/** The endpoint says `aborted` when the connection is gone and `canceled` when the client reset the call. */
function toReason(reason: unknown): unknown {
  const isLost =
    reason instanceof ConnectError && (reason.code === Code.Aborted || reason.code === Code.Unavailable);
  if (!isLost) return reason;
  return new TriviumError("unavailable", "the connection to the client was lost", { cause: reason });
}
