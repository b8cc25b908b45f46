import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { type ExecuteToolRequestSchema, OutputFormat } from "@trivium/proto/grok-tools";
import type { ToolCallOptions } from "./tool-call.ts";

/** The server's own time-out answers first; the deadline is for a server that does not answer. */
const DEADLINE_MARGIN_MS = 5_000;

/** The request of a call. */
export function toCallRequest(
  toolName: string,
  input: unknown,
  options: ToolCallOptions,
): MessageInitShape<typeof ExecuteToolRequestSchema> {
  const { timeoutMs, callId, background, concise, workingDirectory, includeFields, excludeFields } = options;
  return {
    toolName,
    inputJson: JSON.stringify(input ?? {}),
    ...(callId !== undefined && { callId }),
    options: {
      ...(timeoutMs !== undefined && { timeoutMs: BigInt(Math.ceil(timeoutMs)) }),
      ...(workingDirectory !== undefined && { workingDirectory }),
      background: background ?? false,
      outputFormat: concise === true ? OutputFormat.CONCISE : OutputFormat.DEFAULT,
      includeFields: [...(includeFields ?? [])],
      excludeFields: [...(excludeFields ?? [])],
    },
  };
}

/** Metadata, signal and deadline of a call. */
export function toCallOptions(sessionId: string | undefined, options: ToolCallOptions): CallOptions {
  const { signal, timeoutMs, idempotencyKey, logicalErrors, promptId } = options;
  const headers = sessionHeaders(sessionId);
  headers.set("x-trivium-output", "text");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  if (promptId !== undefined) headers.set("x-grok-prompt-id", promptId);
  if (logicalErrors !== undefined) headers.set("x-trivium-logical-errors", logicalErrors);
  return {
    headers,
    ...(signal !== undefined && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs: timeoutMs + DEADLINE_MARGIN_MS }),
  };
}

/** Metadata that chooses the session. */
export function sessionHeaders(sessionId: string | undefined): Headers {
  const headers = new Headers();
  if (sessionId !== undefined) headers.set("x-trivium-session", sessionId);
  return headers;
}
