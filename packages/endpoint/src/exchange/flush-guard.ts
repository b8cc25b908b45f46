import type { Clock } from "@trivium/core";
import type { Exchange } from "./exchange.ts";

/**
 * Bounds how long the last bytes of a response may wait for a client that does not read them.
 *
 * To be called when everything has been handed over. The time begins anew whenever something is taken.
 */
export function guardFlush(
  exchange: Exchange,
  stall: { readonly clock: Clock; readonly stallMs: number; readonly onStall?: () => void },
): void {
  if (exchange.isClosed) return;
  const arm = (): Disposable =>
    stall.clock.setTimer(stall.stallMs, () => {
      stall.onStall?.();
      exchange.reset();
    });
  let timer = arm();
  exchange.onDrain(() => {
    timer[Symbol.dispose]();
    timer = arm();
  });
  exchange.onClose(() => timer[Symbol.dispose]());
}
