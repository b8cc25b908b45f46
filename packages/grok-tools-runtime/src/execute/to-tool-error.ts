import { type ErrorKind, type Logger, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { ToolError } from "../tool-error.ts";

/**
 * The answer for whatever a tool throws. Errors of our own ports keep their meaning; anything else is a bug of the
 * tool: it goes to the log, and the model learns only that it happened.
 */
export function toToolError(thrown: unknown, toolId: string, logger: Logger): ToolError {
  if (ToolError.isInstance(thrown)) return thrown;
  if (TriviumError.isInstance(thrown)) {
    const { code, detailKind, retryable } = partsOfKind[thrown.kind];
    return new ToolError(code, thrown.message, { cause: thrown, detailKind, retryable });
  }
  logger.error({ toolId, cause: thrown }, "a tool failed unexpectedly");
  return new ToolError(ErrorCode.INTERNAL, `${toolId} failed unexpectedly`, {
    cause: thrown,
    detailKind: "custom",
    details: { code: "unexpected" },
  });
}

type Parts = { readonly code: ErrorCode; readonly detailKind: string; readonly retryable: boolean };

const execution: Parts = { code: ErrorCode.EXECUTION_FAILED, detailKind: "execution", retryable: false };
const invalid: Parts = { code: ErrorCode.INVALID_INPUT, detailKind: "invalid_arguments", retryable: false };

const partsOfKind: Readonly<Record<ErrorKind, Parts>> = {
  invalidInput: invalid,
  outOfRange: invalid,
  notFound: execution,
  alreadyExists: execution,
  failedPrecondition: execution,
  aborted: execution,
  dataLoss: execution,
  permissionDenied: { code: ErrorCode.PERMISSION_DENIED, detailKind: "permission_denied", retryable: false },
  unauthenticated: { code: ErrorCode.PERMISSION_DENIED, detailKind: "unauthorized", retryable: false },
  resourceExhausted: { code: ErrorCode.EXECUTION_FAILED, detailKind: "execution", retryable: true },
  cancelled: { code: ErrorCode.CANCELLED, detailKind: "cancelled", retryable: false },
  deadlineExceeded: { code: ErrorCode.TIMEOUT, detailKind: "timeout", retryable: true },
  unavailable: { code: ErrorCode.EXECUTION_FAILED, detailKind: "service_unavailable", retryable: true },
  unimplemented: { code: ErrorCode.NOT_IMPLEMENTED, detailKind: "not_implemented", retryable: false },
  internal: { code: ErrorCode.INTERNAL, detailKind: "custom", retryable: false },
};
