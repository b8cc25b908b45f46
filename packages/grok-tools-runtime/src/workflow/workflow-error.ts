import { ErrorCode } from "@trivium/proto/grok-tools";
import { ToolError, type ToolErrorOptions } from "../tool-error.ts";

/** INVALID_INPUT with the original's code in its details. */
export function invalidWorkflow(
  message: string,
  { details, ...options }: ToolErrorOptions = {},
  code: "workflow_invalid_input" | "workflow_depth_exceeded" = "workflow_invalid_input",
): ToolError {
  return new ToolError(ErrorCode.INVALID_INPUT, message, { ...options, details: { code, ...details } });
}
