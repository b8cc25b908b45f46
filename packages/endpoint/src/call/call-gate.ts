import { type ContextKey, createContextKey, type HandlerContext } from "@connectrpc/connect";

/** Learns the context of a call as soon as Connect has made it, before the request is read. */
export interface CallObserver {
  onContext(context: HandlerContext): void;
}

/** Carries the observer of one call through Connect's handler. */
export const observerKey: ContextKey<CallObserver | undefined> = createContextKey<CallObserver | undefined>(
  undefined,
  { description: "call observer" },
);

/** The router's request gate. Rejects nothing: who may call is settled before any handler is asked. */
export function callGate(context: HandlerContext): void {
  context.values.get(observerKey)?.onContext(context);
}
