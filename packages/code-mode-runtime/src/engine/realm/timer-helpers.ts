import type { Callable, Conversions, Helper, ServiceState } from "./realm-types.ts";

/** `setTimeout`, `clearTimeout`. The worker keeps the time. Part of the service realm; sent as source text. */
export function createTimerHelpers(
  state: ServiceState,
  conversions: Conversions,
): {
  readonly helpers: Readonly<Record<string, Helper>>;
  fire(timerId: number): void;
  reset(): void;
} {
  const { apply } = Reflect;
  const { isFinite, isNaN } = Number;
  const { trunc } = Math;
  const NativeMap = Map;
  let callbacks = new Map<number, Callable>();
  let lastTimerId = 0;

  const isCallable = (value: unknown): value is Callable => typeof value === "function";

  const setTimer = (callback: unknown, delay: unknown): number => {
    if (!isCallable(callback)) throw "setTimeout expects a function";
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- converts any value, as the language does
    const delayMs = delay === undefined ? 0 : +(delay as number);
    lastTimerId += 1;
    callbacks.set(lastTimerId, callback);
    state.send("timer", lastTimerId, isFinite(delayMs) && delayMs > 0 ? trunc(delayMs) : 0);
    return lastTimerId;
  };

  const clearTimer = (timerId: unknown): void => {
    if (timerId === undefined || timerId === null) return;
    if (typeof timerId === "symbol" || typeof timerId === "bigint") {
      throw "clearTimeout expects the number that setTimeout returned";
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- converts any value, as the language does
    const number = +(timerId as number);
    if (isNaN(number) || !callbacks.delete(trunc(number))) return;
    state.send("clear-timer", trunc(number));
  };

  return {
    helpers: { setTimeout: { run: setTimer, throwsErrors: true }, clearTimeout: { run: clearTimer } },
    fire(timerId) {
      const callback = callbacks.get(timerId);
      if (callback === undefined) return;
      callbacks.delete(timerId);
      try {
        apply(callback, undefined, []);
      } catch (thrown) {
        state.send("done", conversions.toErrorText(conversions.rebuild(thrown)));
      }
    },
    reset() {
      callbacks = new NativeMap();
      lastTimerId = 0;
    },
  };
}
