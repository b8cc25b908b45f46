import type { HandlerContext } from "@connectrpc/connect";
import type { ToolAnswer } from "@trivium/grok-tools-runtime";
import { type ExecuteToolRequest, OutputFormat } from "@trivium/proto/grok-tools";
import { callOptionsOf, type GrokToolsServiceDeps, sessionOf } from "./request-metadata.ts";

/** Carries out the request of both execute methods. */
export async function callTool(
  deps: GrokToolsServiceDeps,
  { toolName, inputJson, callId, options }: ExecuteToolRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader">,
): Promise<ToolAnswer> {
  const session = sessionOf(deps, context);
  return await session.execute(toolName, inputJson, {
    ...callOptionsOf(context),
    callId,
    signal: context.signal,
    timeoutMs: options?.timeoutMs === undefined ? undefined : Number(options.timeoutMs),
    background: options?.background,
    outputFormat: options?.outputFormat === OutputFormat.CONCISE ? "concise" : "default",
    workingDirectory: options?.workingDirectory,
    includeFields: options?.includeFields,
    excludeFields: options?.excludeFields,
  });
}
