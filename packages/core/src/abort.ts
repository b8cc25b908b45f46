import { abortReason } from "./abort-reason.ts";
import type { Clock } from "./clock.ts";

/** A signal with an owner: disposing it takes its listeners and its timer away. */
export interface OwnedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** Options of {@link linkSignals}. */
export interface LinkOptions {
  /** Aborts with a `TimeoutError` after this time. Absent means no limit. */
  readonly timeoutMs?: number | undefined;
  /** Needed with `timeoutMs`. */
  readonly clock?: Clock | undefined;
}

/**
 * One signal that aborts with the first of several, or when a time has passed.
 *
 * Unlike `AbortSignal.any` the links end with the owner, so a long-lived source does not collect listeners of
 * short-lived calls.
 */
export function linkSignals(
  sources: readonly (AbortSignal | undefined)[],
  options: LinkOptions = {},
): OwnedSignal {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  const release = (): void => {
    for (const step of undo.splice(0)) step();
  };
  const abort = (reason: Error): void => {
    release();
    controller.abort(reason);
  };
  for (const source of sources) {
    if (source === undefined) continue;
    if (source.aborted) {
      abort(abortReason(source));
      break;
    }
    const onAbort = (): void => abort(abortReason(source));
    source.addEventListener("abort", onAbort, { once: true });
    undo.push(() => source.removeEventListener("abort", onAbort));
  }
  const { timeoutMs, clock } = options;
  if (timeoutMs !== undefined && clock !== undefined && !controller.signal.aborted) {
    const timer = clock.setTimer(timeoutMs, () =>
      abort(new DOMException(`no result within ${timeoutMs} ms`, "TimeoutError")),
    );
    undo.push(() => timer[Symbol.dispose]());
  }
  return { signal: controller.signal, [Symbol.dispose]: release };
}

/**
 * Settles with `promise`, or rejects with the reason of `signal` when that aborts first.
 *
 * A late rejection of `promise` is swallowed: its caller has already been told.
 */
export function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      promise.catch(() => {});
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => reject(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
