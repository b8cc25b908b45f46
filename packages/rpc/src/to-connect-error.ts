import { Code, ConnectError } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { codeOfKind } from "./code-of-kind.ts";

/**
 * The status a caller sees for anything a handler throws.
 *
 * An error that is not ours becomes a bare `internal`: its message may hold paths or secrets, so it travels only
 * as `cause`, for the log.
 */
export function toConnectError(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  if (TriviumError.isInstance(thrown)) return status(thrown.message, codeOfKind[thrown.kind], thrown);
  // Names that AbortSignal and AbortSignal.timeout() give to their reasons.
  const name = thrown instanceof Error ? thrown.name : "";
  if (name === "AbortError") return status("the call was cancelled", Code.Canceled, thrown);
  if (name === "TimeoutError") return status("the call timed out", Code.DeadlineExceeded, thrown);
  return status("internal error", Code.Internal, thrown);
}

function status(message: string, code: Code, cause: unknown): ConnectError {
  return new ConnectError(message, code, undefined, undefined, cause);
}
