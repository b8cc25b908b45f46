import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { ToolError } from "../tool-error.ts";

/** Nobody runs children for the session. */
export function noHost(): ToolError {
  return new ToolError(ErrorCode.NOT_IMPLEMENTED, "nobody runs subagents for this session", {
    suggestion: NO_HOST_SUGGESTION,
    details: { unavailable: "subagent_host" },
  });
}

/** What to do when nobody runs children. */
export const NO_HOST_SUGGESTION =
  "Finalize with client_callback_addr, the address of a host that runs subagents, choose a model for the agents of the server (models, defaultModel), or do the work without a subagent.";

/** The client's callback service was given and does not answer. Other errors pass as they are. */
export function callbackUnreachable(cause: unknown): unknown {
  if (!TriviumError.isInstance(cause) || cause.kind === "cancelled") return cause;
  return new ToolError(
    ErrorCode.EXECUTION_FAILED,
    `the host of subagents cannot be reached: ${cause.message}`,
    {
      cause,
      // An address this server never calls will not be called later either.
      retryable: cause.kind !== "permissionDenied",
      details: { code: "callback_unreachable" },
    },
  );
}

/** The children of the session are ending, or were stopped. */
export function channelClosed(message: string): ToolError {
  return new ToolError(ErrorCode.INTERNAL, message, { details: { code: "channel_closed" } });
}

/** A start that asks for something impossible. */
export function refused(reason: string, message: string): ToolError {
  return new ToolError(ErrorCode.INVALID_INPUT, message, { details: { reason } });
}
