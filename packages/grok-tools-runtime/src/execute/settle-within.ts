import { abortReason, type Clock } from "@trivium/core";

/**
 * Settles as `running` does, or rejects with the reason of the signal when it has aborted and `running` has not ended
 * a while later. A late end is ignored.
 */
export function settleWithin<Value>(
  running: Promise<Value>,
  { signal, graceMs, clock }: { signal: AbortSignal; graceMs: () => number; clock: Clock },
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let timer: Disposable | undefined;
    const onAbort = (): void => {
      timer = clock.setTimer(graceMs(), () => reject(abortReason(signal)));
    };
    const settle = (): void => {
      timer?.[Symbol.dispose]();
      signal.removeEventListener("abort", onAbort);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    running.then(resolve, reject).finally(settle);
  });
}
