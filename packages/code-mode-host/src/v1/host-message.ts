import type { ToolCall } from "@trivium/code-mode-runtime";
import { withoutLoneEscapes } from "../json-text.ts";

/** Why a connection is refused. */
export type Rejection =
  | { readonly type: "invalidHello"; readonly message: string }
  | { readonly type: "noCompatibleVersion"; readonly supportedVersions: readonly number[] }
  | { readonly type: "missingRequiredCapability"; readonly capability: string };

/** What the host granted. */
export interface Ready {
  readonly selectedVersion: number;
  readonly capabilities: readonly string[];
  /** With the second socket granted: where the client attaches it. */
  readonly bulkConnectionToken?: string | undefined;
}

/** The outcome of an operation. `value` is in the form of the protocol. */
export type OperationResult =
  | { readonly status: "ok"; readonly value: object }
  | { readonly status: "error"; readonly message: string };

// Every function here gives the JSON text of one message of the host. Ids of clients are 64-bit, hence spelled out.

export function readyMessage(ready: Ready): string {
  return JSON.stringify({ type: "connection/ready", ...ready });
}

export function rejectedMessage(reason: Rejection): string {
  return JSON.stringify({ type: "connection/rejected", reason });
}

export function responseMessage(id: bigint, result: OperationResult): string {
  return `{"type":"operation/response","id":${id},"result":${JSON.stringify(result)}}`;
}

export function initialResponseMessage(id: bigint, result: OperationResult): string {
  return `{"type":"execute/initialResponse","id":${id},"result":${JSON.stringify(result)}}`;
}

/** A tool call; `sessionId` is the client's name of the session. */
export function toolInvokeMessage(id: number, sessionId: string, call: ToolCall): string {
  const { tool, inputJson } = call;
  const invocation = JSON.stringify({
    cell_id: call.cellId,
    runtime_tool_call_id: call.toolCallId,
    tool_name: { name: tool.toolName, namespace: tool.namespace ?? null },
    tool_kind: tool.kind,
  });
  const input = inputJson === undefined ? "null" : withoutLoneEscapes(inputJson);
  const request = `{"type":"tool/invoke","invocation":${invocation.slice(0, -1)},"input":${input}}}`;
  return `{"type":"delegate/request","id":${id},"sessionId":${JSON.stringify(sessionId)},"request":${request}}`;
}

/** A notification of a cell. */
export function notificationMessage(
  id: number,
  sessionId: string,
  notification: { readonly callId: string; readonly cellId: string; readonly text: string },
): string {
  const { callId, cellId, text } = notification;
  return JSON.stringify({
    type: "delegate/request",
    id,
    sessionId,
    request: { type: "notification/send", callId, cellId, text: text.toWellFormed() },
  });
}

export function delegateCancelMessage(id: number): string {
  return JSON.stringify({ type: "delegate/cancel", id });
}

export function cellClosedMessage(sessionId: string, cellId: string): string {
  return JSON.stringify({ type: "cell/closed", sessionId, cellId });
}
