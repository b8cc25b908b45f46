import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { CrabcodeRuntime } from "@trivium/crabcode-runtime";
import { type CoreEventProto, CoreEventProtoSchema, type SendMessageRequest } from "@trivium/proto/crabcode";
import { CallSignal } from "./call-signal.ts";
import { metadataKeys, sessionSelector } from "./metadata.ts";

/**
 * SendMessage: one turn of the main loop as a stream that ends with `turn_complete`.
 *
 * Cancelling the call is how a client interrupts the turn: the contract has no other RPC for it.
 */
export async function* sendMessage(
  runtime: Pick<CrabcodeRuntime, "sendMessage">,
  request: SendMessageRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader" | "responseHeader">,
): AsyncGenerator<CoreEventProto, void, undefined> {
  const { requestHeader, responseHeader } = context;
  using call = new CallSignal(context.signal);
  const idempotencyKey = requestHeader.get(metadataKeys.idempotencyKey);
  const stream = await runtime.sendMessage({
    session: sessionSelector(request.sessionId, requestHeader),
    text: request.text,
    maxTurns: request.maxTurns,
    ...(idempotencyKey !== null && { idempotencyKey }),
    isInteractive: requestHeader.get(metadataKeys.interactive) !== "0",
    isDetached: requestHeader.get(metadataKeys.detach) === "1",
    signal: call.signal,
  });
  responseHeader.set(metadataKeys.sessionId, stream.sessionId);
  responseHeader.set(metadataKeys.operationId, stream.operationId);
  if (stream.isReplay) responseHeader.set(metadataKeys.isReplay, "1");
  for await (const event of stream.events) yield create(CoreEventProtoSchema, event);
}
