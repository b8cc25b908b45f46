import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type Clock, sleep } from "@trivium/core";
import type { CrabcodeRuntime, MessagePlace, StreamEvent } from "@trivium/crabcode-runtime";
import { type CoreEventProto, CoreEventProtoSchema, type SendMessageRequest } from "@trivium/proto/crabcode";
import type { ServerHeartbeatEvent } from "@trivium/proto/crabcode-events";
import { CallSignal } from "./call-signal.ts";
import { metadataKeys, sessionSelector } from "./metadata.ts";

/** A client is not left without a sign of life for longer than this while its session is loaded. */
const LOADING_HEARTBEAT_MS = 200;

/** What SendMessage works with. */
export interface SendMessageDeps {
  readonly runtime: Pick<CrabcodeRuntime, "sendMessage">;
  readonly clock: Clock;
}

/**
 * SendMessage: one turn of the main loop as a stream that ends with `turn_complete`.
 *
 * Cancelling the call is how a client interrupts the turn: the contract has no other RPC for it. The response headers
 * are complete before the session is loaded, so that they may leave at any time.
 */
export async function* sendMessage(
  { runtime, clock }: SendMessageDeps,
  request: SendMessageRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader" | "responseHeader">,
): AsyncGenerator<CoreEventProto, void, undefined> {
  const { requestHeader, responseHeader } = context;
  using call = new CallSignal(context.signal);
  const idempotencyKey = requestHeader.get(metadataKeys.idempotencyKey);
  const onPlace = ({ sessionId, operationId, isReplay }: MessagePlace): void => {
    responseHeader.set(metadataKeys.sessionId, sessionId);
    responseHeader.set(metadataKeys.operationId, operationId);
    if (isReplay) responseHeader.set(metadataKeys.isReplay, "1");
  };
  const admission = runtime.sendMessage({
    session: sessionSelector(request.sessionId, requestHeader),
    text: request.text,
    maxTurns: request.maxTurns,
    ...(idempotencyKey !== null && { idempotencyKey }),
    isInteractive: requestHeader.get(metadataKeys.interactive) !== "0",
    isDetached: requestHeader.get(metadataKeys.detach) === "1",
    signal: call.signal,
    onPlace,
  });
  if (await takesLong(admission, clock)) {
    yield create(CoreEventProtoSchema, loadingHeartbeat(responseHeader.get(metadataKeys.sessionId)));
  }
  const { events } = await admission;
  for await (const event of events) yield create(CoreEventProtoSchema, event);
}

/** Also takes the failure of an admission that nobody waits for any more. */
async function takesLong(admission: Promise<unknown>, clock: Clock): Promise<boolean> {
  const done = new AbortController();
  const isSettled = admission.then(
    () => false,
    () => false,
  );
  // The sleep rejects when it is not needed any more.
  const isLate = sleep(clock, LOADING_HEARTBEAT_MS, done.signal).then(
    () => true,
    () => false,
  );
  const result = await Promise.race([isSettled, isLate]);
  done.abort();
  return result;
}

/** Of a session that is not loaded nothing but its id is known. */
function loadingHeartbeat(sessionId: string | null): StreamEvent {
  const event: ServerHeartbeatEvent = {
    type: "server.heartbeat",
    properties: { session_id: sessionId, epoch: null, seq: null, model: null },
  };
  return { type: event.type, payloadJson: JSON.stringify(event) };
}
