import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { CrabcodeRuntime } from "@trivium/crabcode-runtime";
import { type CoreEventProto, CoreEventProtoSchema, type SubscribeRequest } from "@trivium/proto/crabcode";
import { CallSignal } from "./call-signal.ts";
import { metadataKeys, sessionSelector } from "./metadata.ts";

/** SubscribeEvents: everything that happens in one session, or in all, from now or from a cursor on. */
export async function* subscribeEvents(
  runtime: Pick<CrabcodeRuntime, "subscribe">,
  request: SubscribeRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader" | "responseHeader">,
): AsyncGenerator<CoreEventProto, void, undefined> {
  const { requestHeader, responseHeader } = context;
  using call = new CallSignal(context.signal);
  const afterSeq = requestHeader.get(metadataKeys.afterSeq);
  // The headers may leave before the session is loaded.
  const onSession = (id: string): void => responseHeader.set(metadataKeys.sessionId, id);
  const { events } = await runtime.subscribe({
    session: sessionSelector(request.sessionId, requestHeader),
    ...(afterSeq !== null && { afterSeq }),
    signal: call.signal,
    onSession,
  });
  for await (const event of events) yield create(CoreEventProtoSchema, event);
}
