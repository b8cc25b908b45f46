import { Code, ConnectError } from "@connectrpc/connect";
import { crabcodeErrorReason } from "./error-reason.ts";

/** How transports report a connection that broke, before or in the middle of a stream. */
const lossCodes: readonly Code[] = [
  Code.Unavailable,
  Code.Aborted,
  // Node reports a call on a connection that is gone as reset with CANCEL.
  Code.Canceled,
];
/** What some transports say of a broken connection, and a server of its own faults. */
const doubtfulCodes: readonly Code[] = [Code.Unknown, Code.Internal];

/**
 * True when a call failed because its connection did, as far as one can tell: the service gives a reason with
 * every refusal of its own. Only for calls that are safe to repeat, and that the caller did not cancel.
 */
export function isConnectionLoss(error: unknown): boolean {
  return hasBareCode(error, lossCodes) || isDoubtfulLoss(error);
}

/** True for a loss that may as well be a fault of the server, which comes again with each attempt. */
export function isDoubtfulLoss(error: unknown): boolean {
  return hasBareCode(error, doubtfulCodes);
}

function hasBareCode(error: unknown, codes: readonly Code[]): boolean {
  // Errors of this client have the status as their cause.
  const status = error instanceof Error && !(error instanceof ConnectError) ? error.cause : error;
  return (
    status instanceof ConnectError && codes.includes(status.code) && crabcodeErrorReason(status) === undefined
  );
}
