import type { ClientMessage } from "./client-message.ts";
import { ProtocolError } from "./protocol-error.ts";

/** Which lane of a connection: its only one, or one of two. */
export type LaneName = "only" | "control" | "bulk";

/**
 * Answers that may be large, and errors, use the bulk lane; everything else is control. Size does not matter.
 *
 * @throws {@link ProtocolError} for a message on the other lane.
 */
export function assertLane(message: ClientMessage, lane: LaneName): void {
  if (lane === "only") return;
  const isBulk = message.type === "delegate/response" && message.result.type !== "notification-delivered";
  if (isBulk === (lane === "bulk")) return;
  throw new ProtocolError(`a message of type ${message.type} came on the ${lane} socket`);
}
