import { create } from "@bufbuild/protobuf";
import type { FinalizeReport, ToolConfig } from "@trivium/grok-tools-runtime";
import {
  type FinalizeToolServerConfigRequest,
  type FinalizeToolServerConfigResponse,
  FinalizeToolServerConfigResponseSchema,
} from "@trivium/proto/grok-tools";
import { toRefusalStatus } from "./refusal-status.ts";
import {
  choiceAskerOf,
  type GrokToolsServiceDeps,
  type RequestHeaders,
  sessionOf,
} from "./request-metadata.ts";
import { toWireToolInfo } from "./to-wire.ts";

/**
 * FinalizeToolConfigRequest: locks the tools of a session. The method is named like a message, the contract has it so.
 *
 * A refusal is the status INVALID_ARGUMENT with all violations as a detail.
 */
export async function finalizeToolConfig(
  deps: GrokToolsServiceDeps,
  request: FinalizeToolServerConfigRequest,
  context: RequestHeaders,
): Promise<FinalizeToolServerConfigResponse> {
  const choiceAsker = await choiceAskerOf(deps, context);
  const session = sessionOf(deps, context, "finalize");
  const cwd = context.requestHeader.get("x-trivium-cwd") ?? undefined;
  try {
    const report = await session.finalize(toToolConfig(request), { cwd, choiceAsker });
    return toResponse(deps, report);
  } catch (thrown) {
    throw toRefusalStatus(thrown);
  }
}

function toToolConfig(request: FinalizeToolServerConfigRequest): ToolConfig {
  const { truncation } = request;
  return {
    tools: request.tools,
    truncation,
    systemRemindersEnabled: request.systemRemindersEnabled,
    initialToolStateJson: request.initialToolStateJson,
    behaviorPreset: request.behaviorPreset,
    clientCallbackAddr: request.clientCallbackAddr,
    clientCallbackSecret: request.clientCallbackSecret,
    sessionId: request.sessionId,
  };
}

function toResponse(
  { runtime }: GrokToolsServiceDeps,
  { tools, warnings, versionWarnings, callback }: FinalizeReport,
): FinalizeToolServerConfigResponse {
  const summary = `${tools.length} ${tools.length === 1 ? "tool" : "tools"} configured`;
  return create(FinalizeToolServerConfigResponseSchema, {
    success: true,
    message: [summary, ...warnings.map((token) => `warning: ${token}`)].join("\n"),
    tools: tools.map((card) => toWireToolInfo(card, { withSchemas: true, version: runtime.toolVersion })),
    versionWarnings: versionWarnings.map(({ toolId, ...warning }) => ({ fqToolId: toolId, ...warning })),
    ...(callback !== undefined && {
      callbackStatus: {
        connected: callback.isConnected,
        activeSurfaces: [...callback.activeSurfaces],
        ...(callback.message !== undefined && { message: callback.message }),
      },
    }),
  });
}
