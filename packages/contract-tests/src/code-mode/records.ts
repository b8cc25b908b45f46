import {
  type ContentItem,
  type ExecutionOutcome,
  type OpenSessionRequest,
  ToolKind,
  type WaitResponse,
} from "@trivium/proto/code-mode";
import type { CallEnd, ObservedCall, ObservedExecution } from "./observed-session.ts";
import type { ExecuteStep, SessionInit, Vector, VectorTool } from "./vector.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const kinds = { function: ToolKind.FUNCTION, freeform: ToolKind.FREEFORM } as const;
const kindNames = ["unspecified", "function", "freeform"];
const detailNames = ["unspecified", "auto", "low", "high", "original"];
const truncations = { unspecified: 0, none: 1, bounded: 2 } as const;

export const jsonBytes = (value: unknown): Uint8Array<ArrayBuffer> => encoder.encode(JSON.stringify(value));
export const textBytes = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

export function toOpenRequest(init: SessionInit = {}, limits?: Vector["limits"]) {
  const { output_truncation: truncation, max_pending_delegate_calls, heartbeat_interval_s } = init;
  return {
    ...(limits !== undefined && {
      cellExecutionLimits: {
        ...(limits.max_yield_time_ms !== undefined && { maxYieldTimeMs: BigInt(limits.max_yield_time_ms) }),
        ...(limits.max_heap_size_bytes !== undefined && {
          maxHeapSizeBytes: BigInt(limits.max_heap_size_bytes),
        }),
      },
    }),
    ...(truncation !== undefined && {
      outputTruncation: (typeof truncation === "number"
        ? truncation
        : truncations[truncation]) as OpenSessionRequest["outputTruncation"],
    }),
    ...(max_pending_delegate_calls !== undefined && { maxPendingDelegateCalls: max_pending_delegate_calls }),
    ...(heartbeat_interval_s !== undefined && { heartbeatIntervalS: heartbeat_interval_s }),
  };
}

export function toExecuteRequest(step: ExecuteStep, executionId: string) {
  return {
    executionId: step.execution_id ?? executionId,
    ...(step.tool_call_id !== undefined && { toolCallId: step.tool_call_id }),
    source: step.source ?? "",
    enabledTools: (step.enabled_tools ?? []).map(toDefinition),
    ...(step.yield_time_ms !== undefined && { yieldTimeMs: BigInt(step.yield_time_ms) }),
    ...(step.max_output_tokens !== undefined && { maxOutputTokens: BigInt(step.max_output_tokens) }),
    ...(step.catalog_revision !== undefined && { catalogRevision: BigInt(step.catalog_revision) }),
  };
}

function toDefinition(tool: VectorTool) {
  const given = typeof tool === "string" ? { name: tool } : tool;
  const { kind = "function", tool_name: toolName } = given;
  return {
    name: given.name,
    ...(toolName !== null && {
      toolName: {
        name: toolName?.name ?? given.name,
        ...(toolName?.namespace !== undefined && { namespace: toolName.namespace }),
      },
    }),
    description: given.description ?? "",
    kind: typeof kind === "number" ? (kind as ToolKind) : kinds[kind],
    ...(given.input_schema_json !== undefined && { inputSchemaJson: textBytes(given.input_schema_json) }),
    ...(given.output_schema_json !== undefined && { outputSchemaJson: textBytes(given.output_schema_json) }),
  };
}

export function recordCall(call: ObservedCall) {
  const { toolName, inputJson } = call;
  return {
    tool: toolName?.name,
    ...(toolName?.namespace !== undefined && { namespace: toolName.namespace }),
    kind: kindNames[call.toolKind],
    runtime_tool_call_id: call.runtimeToolCallId,
    sequence: Number(call.sequence),
    input_json: inputJson === undefined ? null : decoder.decode(inputJson),
  };
}

export function recordOutcome(outcome: ExecutionOutcome) {
  const result = outcome.outcome;
  const errorText = result.case === "completed" ? result.value.errorText : undefined;
  return {
    cell: outcome.cellId,
    kind: result.case,
    content: outcome.contentItems.map(recordItem),
    ...(errorText !== undefined && { error_text: errorText }),
  };
}

export function recordExecution(execution: ObservedExecution) {
  const { messages, outcome, end } = execution;
  const isFailure = end !== undefined && end.status !== 0;
  return {
    messages,
    ...(outcome !== undefined && recordOutcome(outcome)),
    ...(isFailure && { status: end.status, message: end.message }),
  };
}

/** The answer of a Wait or Terminate, or how the call failed. */
export function recordAnswer(answer: WaitResponse | CallEnd) {
  if ("status" in answer) return { status: answer.status, message: answer.message };
  const { state } = answer;
  if (state.case === undefined) return { state: null };
  return { state: state.case === "liveCell" ? "live" : "missing", ...recordOutcome(state.value) };
}

function recordItem({ item }: ContentItem) {
  switch (item.case) {
    case "text":
      return { text: item.value.text };
    case "image": {
      const { imageUrl, detail } = item.value;
      return { image_url: imageUrl, ...(detail !== undefined && { detail: detailNames[detail] }) };
    }
    case "audio":
      return { audio_url: item.value.audioUrl };
    case undefined:
      return { empty: true };
  }
}
