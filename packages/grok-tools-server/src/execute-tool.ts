import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { ToolError } from "@trivium/grok-tools-runtime";
import {
  ErrorCode,
  type ExecuteToolRequest,
  type ExecuteToolResponse,
  ExecuteToolResponseSchema,
  ToolSuccessSchema,
} from "@trivium/proto/grok-tools";
import { callTool } from "./call-tool.ts";
import type { GrokToolsServiceDeps } from "./request-metadata.ts";
import { toWireError, toWireMetadata } from "./to-wire.ts";

/** Limit of a unary response, less what the rest of the message may take. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024 - 64 * 1024;

/**
 * ExecuteTool: runs one tool and reports its outcome in the response body.
 *
 * A tool that fails is a normal answer. Only a request that could not be carried out at all is thrown.
 */
export async function executeTool(
  deps: GrokToolsServiceDeps,
  request: ExecuteToolRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader">,
): Promise<ExecuteToolResponse> {
  const { callId, result, metadata } = await callTool(deps, request, context);
  const respond = (wireResult: ExecuteToolResponse["result"]): ExecuteToolResponse =>
    create(ExecuteToolResponseSchema, { callId, result: wireResult, metadata: toWireMetadata(metadata) });
  if (!result.ok) return respond({ case: "error", value: toWireError(result.error) });
  const outputJson = JSON.stringify(result.output);
  const { promptText } = result;
  if (Buffer.byteLength(outputJson) + Buffer.byteLength(promptText) > MAX_RESULT_BYTES) {
    return respond({ case: "error", value: toWireError(tooLarge()) });
  }
  return respond({ case: "success", value: create(ToolSuccessSchema, { outputJson, promptText }) });
}

function tooLarge(): ToolError {
  return new ToolError(ErrorCode.EXECUTION_FAILED, "the result is larger than one message can be", {
    suggestion: "Use ExecuteToolStream, or ask for fewer fields.",
    details: { reason: "result_too_large" },
  });
}
