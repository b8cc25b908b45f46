import { Code, ConnectError } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";

/**
 * The signal of a call as the runtime wants it: a lost connection aborts with kind `unavailable`, so that a turn may
 * wait for its client, a client that does not read with `resourceExhausted`, so that its turn goes on. Everything else
 * is a cancel. Disposing it ends the call: it takes the listener away, and what is still being begun is not begun.
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
    this.#controller.abort(new TriviumError("cancelled", "the call is over"));
  }
}

/**
 * The endpoint says `aborted` when the connection is gone, `resource exhausted` when it reset a call that was not read,
 * and `canceled` when the client reset it.
 */
function toReason(reason: unknown): unknown {
  const code = reason instanceof ConnectError ? reason.code : undefined;
  if (code === Code.Aborted || code === Code.Unavailable) {
    return new TriviumError("unavailable", "the connection to the client was lost", { cause: reason });
  }
  if (code === Code.ResourceExhausted) {
    return new TriviumError("resourceExhausted", "the client does not read", { cause: reason });
  }
  return reason;
}
