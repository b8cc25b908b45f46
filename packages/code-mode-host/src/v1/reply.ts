import { type Logger, TriviumError } from "@trivium/core";
import { MAX_PAYLOAD_BYTES } from "./frame.ts";
import type { OperationResult } from "./host-message.ts";

/** True when a message fits in a frame. */
export function fitsFrame(json: string): boolean {
  // A character takes at most three bytes for each of its code units, so most messages need no measuring.
  return json.length * 3 <= MAX_PAYLOAD_BYTES || Buffer.byteLength(json) <= MAX_PAYLOAD_BYTES;
}

/** The message of an answer, or of an error in its place when it does not fit in a frame. */
export function fittingReply(
  toMessage: (id: bigint, result: OperationResult) => string,
  id: bigint,
  result: OperationResult,
): string {
  try {
    const json = toMessage(id, result);
    if (fitsFrame(json)) return json;
  } catch (thrown) {
    // Longer than any text can be, all the more than a frame.
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  const message = `the answer to the request ${id} does not fit in a frame of ${MAX_PAYLOAD_BYTES} bytes`;
  return toMessage(id, { status: "error", message });
}

/** What a client is told of a failed operation. What is not ours to tell goes to the log. */
export function toErrorResult(thrown: unknown, logger: Logger): OperationResult {
  if (TriviumError.isInstance(thrown)) return { status: "error", message: thrown.message };
  logger.error({ error: thrown }, "an operation failed");
  return { status: "error", message: "internal error" };
}
