import type { StreamEvent } from "../crabcode-runtime.ts";
import type { SessionEventBus } from "../events/session-event-bus.ts";
import type { OperationRecord } from "../store/operation-store.ts";

/** What is left of a turn whose events belong to a numbering that is gone. */
export function lostTurn(
  bus: SessionEventBus,
  { operationId, epoch, completeEvent }: OperationRecord,
): StreamEvent[] {
  const { sessionId } = bus;
  const gap = {
    type: "server.gap",
    properties: {
      session_id: sessionId,
      epoch: bus.epoch,
      from_seq: 0,
      to_seq: 0,
      reason: "epoch",
      previous_epoch: epoch ?? null,
    },
  };
  const kept: object = JSON.parse(completeEvent ?? '{"type":"turn_complete","reason":"interrupted"}');
  const complete = {
    ...kept,
    session_id: sessionId,
    epoch,
    operation_id: operationId,
    operation_scope: "foreground",
  };
  return [
    { type: gap.type, payloadJson: JSON.stringify(gap) },
    { type: "turn_complete", payloadJson: JSON.stringify(complete) },
  ];
}
