import { Code, ConnectError } from "@connectrpc/connect";
import { crabcodeErrorReason } from "./error-reason.ts";

/** How transports report a connection that broke, before or in the middle of a stream. */
const lossCodes: readonly Code[] = [
  Code.Unavailable,
  Code.Aborted,
  Code.Unknown,
  Code.Internal,
  // Node reports a call on a connection that is gone as reset with CANCEL.
  Code.Canceled,
];

/**
 * True when a call failed because its connection did, as far as one can tell: the service gives a reason with
 * every refusal of its own. Only for calls that are safe to repeat, and that the caller did not cancel.
 */
export function isConnectionLoss(error: unknown): boolean {
  return (
    error instanceof ConnectError &&
    lossCodes.includes(error.code) &&
    crabcodeErrorReason(error) === undefined
  );
}
