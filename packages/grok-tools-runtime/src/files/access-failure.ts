import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { fileFailureOf } from "../file-error.ts";
import { ToolError } from "../tool-error.ts";
import { isNotRegular } from "./open-file.ts";
import { isOutsideRoots } from "./path-jail.ts";

/** The contract's code for a failed access to a file, and `details.reason` where it has one. */
export interface AccessFailure {
  readonly code: ErrorCode;
  readonly reason?: string | undefined;
}

/**
 * What a failure of this folder's functions means to the contract.
 *
 * @throws the error itself when it is the reason of `signal`, since a cancelled call has no outcome, or a
 * {@link ToolError}, which has its code already.
 */
export function accessFailureOf(thrown: unknown, signal: AbortSignal): AccessFailure {
  if (signal.aborted || ToolError.isInstance(thrown)) throw thrown;
  if (isOutsideRoots(thrown)) return { code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" };
  if (isNotRegular(thrown)) return { code: ErrorCode.INVALID_INPUT, reason: "not_a_regular_file" };
  if (TriviumError.isInstance(thrown)) {
    if (thrown.kind === "outOfRange") return { code: ErrorCode.INVALID_INPUT, reason: "too_large" };
    if (thrown.kind === "aborted") return { code: ErrorCode.FILE_EXTERNALLY_MODIFIED };
  }
  return fileFailureOf(thrown);
}
