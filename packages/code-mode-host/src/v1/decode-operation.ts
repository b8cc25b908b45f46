import type { OutputMode, ToolDefinition } from "@trivium/code-mode-runtime";
import { toNumber } from "../numbers.ts";
import type { ExecuteBody, OperationRequest } from "./client-message.ts";
import { integerRanges } from "./integer-ranges.ts";
import type { JsonNode } from "./json-node.ts";
import { MessageFields } from "./message-fields.ts";
import { ProtocolError } from "./protocol-error.ts";
import { requireName } from "./require-name.ts";

/** Reads the request of an operation. @throws {@link ProtocolError} as every reading of a message. */
export function decodeOperation(node: JsonNode): OperationRequest {
  const fields = new MessageFields(node);
  const request = decodeByMethod(fields.string("method"), fields);
  fields.end();
  return request;
}

function decodeByMethod(method: string, fields: MessageFields): OperationRequest {
  const sessionId = requireName(fields.required("sessionId"));
  switch (method) {
    case "session/open":
      return {
        method,
        sessionId,
        ...decodeLimits(fields.optional("cellExecutionLimits")),
        outputMode: decodeOutputMode(fields.optional("outputTruncation")),
      };
    case "session/execute":
      return { method, sessionId, body: decodeExecute(fields.required("request")) };
    case "session/wait":
      return {
        method,
        sessionId,
        ...decodeWait(fields.required("request")),
        maxOutputTokens: toUnsigned(fields.optional("maxOutputTokens")),
      };
    case "session/terminate":
      return {
        method,
        sessionId,
        cellId: fields.string("cellId"),
        maxOutputTokens: toUnsigned(fields.optional("maxOutputTokens")),
      };
    case "session/shutdown":
      return { method, sessionId };
    default:
      throw new ProtocolError(`there is no method ${method}`);
  }
}

function decodeLimits(node: JsonNode | undefined) {
  if (node === undefined) return { maxYieldTimeMs: undefined, maxHeapSizeBytes: undefined };
  const fields = new MessageFields(node);
  const limits = {
    maxYieldTimeMs: toUnsigned(fields.optional("maxYieldTimeMs")),
    maxHeapSizeBytes: toUnsigned(fields.optional("maxHeapSizeBytes")),
  };
  fields.end();
  return limits;
}

function decodeOutputMode(node: JsonNode | undefined): OutputMode {
  const truncation = node?.string() ?? "client";
  if (truncation === "client") return "unbounded";
  if (truncation === "server") return "bounded";
  throw new ProtocolError(`there is no outputTruncation ${truncation}`);
}

function decodeWait(node: JsonNode) {
  const fields = new MessageFields(node);
  const wait = {
    cellId: fields.string("cell_id"),
    yieldTimeMs: toNumber(fields.required("yield_time_ms").integer(integerRanges.u64)),
  };
  fields.end();
  return wait;
}

function decodeExecute(node: JsonNode): ExecuteBody {
  const fields = new MessageFields(node);
  const body = {
    toolCallId: fields.string("tool_call_id"),
    tools: fields.required("enabled_tools").array().map(decodeTool),
    source: fields.string("source"),
    yieldTimeMs: toUnsigned(fields.optional("yield_time_ms")),
    maxOutputTokens: toNumber(fields.optional("max_output_tokens")?.integer(integerRanges.i32)),
    catalogRevision: fields.optional("catalog_revision")?.integer(integerRanges.u64),
  };
  fields.end();
  return body;
}

function decodeTool(node: JsonNode): ToolDefinition {
  const fields = new MessageFields(node);
  const toolName = new MessageFields(fields.required("tool_name"));
  const tool = {
    name: fields.string("name"),
    toolName: toolName.string("name"),
    namespace: toolName.optional("namespace")?.string(),
    description: fields.string("description"),
    kind: decodeKind(fields.string("kind")),
    inputSchemaJson: fields.optional("input_schema")?.json,
    outputSchemaJson: fields.optional("output_schema")?.json,
  };
  toolName.end();
  fields.end();
  return tool;
}

function decodeKind(kind: string): ToolDefinition["kind"] {
  if (kind === "function" || kind === "freeform") return kind;
  throw new ProtocolError(`there is no tool kind ${kind}`);
}

/** Numbers beyond 2^53 - 1 are taken as that. */
function toUnsigned(node: JsonNode | undefined): number | undefined {
  return toNumber(node?.integer(integerRanges.u64));
}
