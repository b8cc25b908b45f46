import { ErrorCode } from "@trivium/proto/grok-tools";
import { ToolError, type ToolErrorOptions } from "../tool-error.ts";

/** A failure with the original's code in its details. */
export function goalFailure(
  code: string,
  message: string,
  options: Pick<ToolErrorOptions, "suggestion" | "retryable"> = {},
): ToolError {
  return new ToolError(ErrorCode.EXECUTION_FAILED, message, {
    ...options,
    detailKind: "custom",
    details: { code },
  });
}
