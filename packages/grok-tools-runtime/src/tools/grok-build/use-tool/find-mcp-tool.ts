import type { McpTool } from "@trivium/mcp";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { closestNames } from "../../../closest-names.ts";
import { sessionMcp } from "../../../mcp/session-mcp.ts";
import { parseQualifiedName } from "../../../mcp/tool-names.ts";
import { shorten } from "../../../shorten.ts";
import type { ToolContext } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import type { UseToolParams } from "./use-tool-params.ts";

/** A call waits so long for its server to be started. */
const START_WAIT_MS = 30_000;

/**
 * The tool a name means. Servers that are being started are waited for.
 *
 * @throws {@link ToolError} INVALID_INPUT for a name that is no `server__tool`, TOOL_NOT_FOUND for a tool that no server
 * has, EXECUTION_FAILED when its server cannot be used.
 */
export async function findMcpTool(name: string, context: ToolContext<UseToolParams>): Promise<McpTool> {
  const parts = parseQualifiedName(name);
  if (parts === undefined) throw notQualified(name, context);
  const mcp = context.resource(sessionMcp);
  const known = mcp.index.get(name);
  if (known !== undefined) return known;
  await mcp.servers.settled(START_WAIT_MS, context.signal);
  const { index } = mcp;
  const started = index.get(name);
  if (started !== undefined) return started;
  const failed = mcp.missing().find((server) => server.name === parts.server);
  if (failed !== undefined) {
    const reason = failed.error ?? "it is still being started";
    throw new ToolError(
      ErrorCode.EXECUTION_FAILED,
      `the MCP server ${failed.name} cannot be used: ${shorten(reason, 600)}`,
      { detailKind: "service_unavailable", retryable: true },
    );
  }
  const close = closestNames(name, index.names, 3);
  throw new ToolError(ErrorCode.TOOL_NOT_FOUND, `no MCP tool named ${name}`, {
    suggestion:
      close.length > 0
        ? `Call ${close.join(" or ")} instead.`
        : `${howToFind(context)} to learn what there is.`,
  });
}

function notQualified(name: string, context: ToolContext<UseToolParams>): ToolError {
  const { configuredTools, params, parameterName } = context;
  const field = parameterName("tool_name");
  const native = params.native_tool_correction
    ? configuredTools.find(({ id, clientName }) => clientName === name || id === name)
    : undefined;
  if (native !== undefined) {
    const { clientName } = native;
    return ToolError.invalidField(field, `${clientName} is not an MCP tool; call ${clientName} directly`, {
      suggestion: `Call ${clientName} itself, with the same input.`,
    });
  }
  return ToolError.invalidField(
    field,
    `${JSON.stringify(shorten(name))} is not the name of an MCP tool; such names have the form server__tool`,
    { suggestion: `${howToFind(context)} to find the name.` },
  );
}

function howToFind({ toolName }: Pick<ToolContext, "toolName">): string {
  return `Call ${toolName("search_tool") ?? "search_tool"}`;
}
