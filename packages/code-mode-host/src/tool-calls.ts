import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { SubscriptionEvent, SubscriptionOptions, ToolCallResult } from "@trivium/code-mode-runtime";
import { abortReason, TriviumError } from "@trivium/core";
import {
  type CompleteToolCallRequest,
  type CompleteToolCallResponse,
  CompleteToolCallResponseSchema,
  type SubscribeToToolCallsRequest,
  type ToolCall,
  ToolCallSchema,
  ToolKind,
} from "@trivium/proto/code-mode";
import { requireUuid } from "./identifiers.ts";
import { requireJsonText } from "./json-text.ts";
import { type CodeModeServiceDeps, requireSession } from "./service-deps.ts";
import { toToolReference } from "./tool-definitions.ts";
import { whenAborted } from "./when-aborted.ts";

const MAX_FILTERS = 64;
const encoder = new TextEncoder();

/** SubscribeToToolCalls: the calls this reader gets, until it leaves or the session ends. */
export async function* subscribeToToolCalls(
  { runtime }: CodeModeServiceDeps,
  request: SubscribeToToolCallsRequest,
  { signal }: Pick<HandlerContext, "signal">,
): AsyncGenerator<ToolCall> {
  const session = requireSession(runtime, request.sessionId);
  const events = session.subscribe(toSubscriptionOptions(request));
  using _ = whenAborted(signal, () => void events.return());
  try {
    for await (const event of events) yield toWireCall(session.sessionId, event);
    if (signal.aborted) throw abortReason(signal);
  } finally {
    await events.return();
  }
}

/** CompleteToolCall: a payload that is refused leaves the call open. */
export function completeToolCall(
  { runtime }: CodeModeServiceDeps,
  request: CompleteToolCallRequest,
): CompleteToolCallResponse {
  const session = requireSession(runtime, request.sessionId);
  const invocationId = requireUuid("invocation_id", request.invocationId);
  session.completeToolCall(invocationId, toResult(request.outcome));
  return create(CompleteToolCallResponseSchema);
}

function toSubscriptionOptions(request: SubscribeToToolCallsRequest): SubscriptionOptions {
  const { toolNames, heartbeatIntervalS } = request;
  if (toolNames.length > MAX_FILTERS) {
    throw new TriviumError(
      "invalidInput",
      `the subscription has ${toolNames.length} filters; it takes at most ${MAX_FILTERS} filters`,
    );
  }
  return {
    tools: toolNames.map((toolName, index) => toToolReference(`tool_names[${index}] tool_name`, toolName)),
    heartbeatIntervalMs: (heartbeatIntervalS ?? 0) * 1000,
  };
}

function toResult(outcome: CompleteToolCallRequest["outcome"]): ToolCallResult {
  switch (outcome.case) {
    case "succeeded": {
      const { outputJson } = outcome.value;
      requireJsonText("output_json of the tool call", outputJson);
      return { type: "succeeded", outputJson };
    }
    case "failed":
      return { type: "failed", message: outcome.value.message };
    case undefined:
      throw new TriviumError("invalidInput", "outcome is missing; set succeeded or failed");
  }
}

function toWireCall(sessionId: string, event: SubscriptionEvent): ToolCall {
  if (event.type === "heartbeat") return create(ToolCallSchema, { sessionId, heartbeat: {} });
  const { executionId, cellId, invocationId, toolCallId, tool, inputJson, sequence } = event.call;
  return create(ToolCallSchema, {
    sessionId,
    executionId,
    cellId,
    invocationId,
    runtimeToolCallId: toolCallId,
    toolName: { name: tool.toolName, ...(tool.namespace !== undefined && { namespace: tool.namespace }) },
    toolKind: tool.kind === "freeform" ? ToolKind.FREEFORM : ToolKind.FUNCTION,
    ...(inputJson !== undefined && { inputJson: encoder.encode(inputJson) }),
    sequence: BigInt(sequence),
  });
}
