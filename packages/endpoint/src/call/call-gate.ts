import {
  ConnectError,
  type ContextKey,
  createContextKey,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";

/** Follows one call inside Connect's handler. */
export interface CallObserver {
  /** As soon as the context is made, before the request is read. */
  onContext(context: HandlerContext): void;
  /** Just before the implementation runs, after all interceptors. */
  onStart(): void;
  /** The error a call ends with, before it is put on the wire. */
  onFailure(error: ConnectError): void;
}

/** Carries the observer of one call through Connect's handler. */
export const observerKey: ContextKey<CallObserver | undefined> = createContextKey<CallObserver | undefined>(
  undefined,
  { description: "call observer" },
);

/** The innermost interceptor. */
export const startInterceptor: Interceptor = (next) => (request) => {
  request.contextValues.get(observerKey)?.onStart();
  return next(request);
};

/** The router's request gate. Rejects nothing: who may call is settled before any handler is asked. */
export function callGate(context: HandlerContext): void {
  const observer = context.values.get(observerKey);
  if (observer === undefined) return;
  observer.onContext(context);
  // Connect calls `abort` at every end of a call in every protocol, with the error if there is one, and writes the
  // error afterwards. The signal would tell only the first of several calls.
  const abort: unknown = Reflect.get(context, "abort");
  if (typeof abort !== "function") return;
  Object.assign(context, {
    abort(reason?: unknown) {
      if (reason instanceof ConnectError) observer.onFailure(reason);
      Reflect.apply(abort, context, [reason]);
    },
  });
}
