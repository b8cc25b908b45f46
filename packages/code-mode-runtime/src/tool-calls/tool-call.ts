import type { CellTool } from "../engine/cell-engine.ts";
import { fieldBytes, textFieldBytes, utf8Bytes } from "../wire-size.ts";

/** A tool call handed to a subscription. */
export interface ToolCall {
  readonly executionId: string;
  readonly cellId: string;
  /** UUID that completes it. */
  readonly invocationId: string;
  /** `tool-1`, `tool-2`, … in the order in which the program made its calls. */
  readonly toolCallId: string;
  readonly tool: CellTool;
  /** Absent when the program passed nothing. */
  readonly inputJson: string | undefined;
  /** 1, 2, … per execution. */
  readonly sequence: number;
}

/** What a subscription delivers. */
export type SubscriptionEvent =
  | { readonly type: "tool-called"; readonly call: ToolCall }
  | { readonly type: "heartbeat" };

/** What a client answers a tool call with. */
export type ToolCallResult =
  /** Valid JSON, nested at most 127 levels, without lone surrogates; bytes are UTF-8. */
  | { readonly type: "succeeded"; readonly outputJson: string | Uint8Array }
  | { readonly type: "failed"; readonly message: string };

/** A UUID as text, and the field around it. */
const UUID_FIELD_BYTES = 38;

/**
 * Bytes of the encoded call, at most: numbers and the kind take up to 24 of them.
 * Contract: code_mode.proto, ToolCall.
 */
export function toolCallBytes(call: Omit<ToolCall, "invocationId" | "sequence">): number {
  const { name, namespace } = { name: call.tool.toolName, namespace: call.tool.namespace };
  const toolNameBytes =
    textFieldBytes(name) + (namespace === undefined ? 0 : fieldBytes(utf8Bytes(namespace)));
  return (
    24 +
    2 * UUID_FIELD_BYTES +
    textFieldBytes(call.executionId) +
    textFieldBytes(call.cellId) +
    textFieldBytes(call.toolCallId) +
    fieldBytes(toolNameBytes) +
    (call.inputJson === undefined ? 0 : fieldBytes(utf8Bytes(call.inputJson)))
  );
}
