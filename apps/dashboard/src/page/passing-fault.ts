import { type ErrorKind, TriviumError } from "@trivium/core";
import { crabcodeErrorReason } from "@trivium/crabcode-client";

/** Browsers do not say why a call failed; what the services refuse themselves has a reason. */
const passingKinds: ReadonlySet<ErrorKind> = new Set([
  "unavailable",
  "internal",
  "aborted",
  "cancelled",
  "deadlineExceeded",
]);

/** Whether a server may well answer later: it starts anew, or the network is away. */
export function isPassingFault(error: unknown): boolean {
  if (!TriviumError.isInstance(error) || !passingKinds.has(error.kind)) return false;
  const reason = crabcodeErrorReason(error);
  return reason === undefined || reason === "SHUTTING_DOWN";
}
