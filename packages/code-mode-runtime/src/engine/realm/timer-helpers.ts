import type { Conversions, Helper, ServiceState } from "./realm-types.ts";

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
  const { get, set, delete: remove } = Map.prototype;
  const { isFinite, isNaN } = Number;
  const { trunc } = Math;
  const NativeMap = Map;
  let callbacks = new Map<number, () => unknown>();
  let lastTimerId = 0;

  const setTimer = (callback: unknown, delay: unknown): number => {
    if (typeof callback !== "function") throw "setTimeout expects a function";
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- converts any value, as the language does
    const delayMs = delay === undefined ? 0 : +(delay as number);
    lastTimerId += 1;
    apply(set, callbacks, [lastTimerId, callback]);
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
    if (isNaN(number) || !apply(remove, callbacks, [trunc(number)])) return;
    state.send("clear-timer", trunc(number));
  };

  return {
    helpers: { setTimeout: { run: setTimer, throwsErrors: true }, clearTimeout: { run: clearTimer } },
    fire(timerId) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a map of functions
      const callback = apply(get, callbacks, [timerId]) as (() => unknown) | undefined;
      if (callback === undefined) return;
      apply(remove, callbacks, [timerId]);
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
