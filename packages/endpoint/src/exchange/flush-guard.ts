import type { Clock } from "@trivium/core";
import type { Exchange } from "./exchange.ts";

/**
 * Bounds how long the last bytes of a response may wait for a client that does not read them.
 *
 * To be called when everything has been handed over. That is one piece at most, and it has the whole time once: Node
 * does not tell how much of it has been taken.
 */
export function guardFlush(
  exchange: Exchange,
  stall: { readonly clock: Clock; readonly stallMs: number; readonly onStall?: () => void },
): void {
  if (exchange.isClosed) return;
  const timer = stall.clock.setTimer(stall.stallMs, () => {
    stall.onStall?.();
    exchange.reset();
  });
  exchange.onClose(() => timer[Symbol.dispose]());
}
