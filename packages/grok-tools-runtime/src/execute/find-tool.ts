import { ErrorCode } from "@trivium/proto/grok-tools";
import { factsOfSession } from "../catalogue/backend-facts.ts";
import { missingDependency } from "../catalogue/to-tool-card.ts";
import { closestNames } from "../closest-names.ts";
import type { ConfiguredTool } from "../finalize/configured-tool.ts";
import type { FinalizedToolset } from "../finalized-toolset.ts";
import { shorten } from "../shorten.ts";
import { ToolError } from "../tool-error.ts";
import { isToolName } from "../tool-id.ts";

/**
 * The tool a call names, by its client name alone.
 *
 * @throws {@link ToolError} INVALID_TOOL_NAME, TOOL_NOT_FOUND with a suggestion, TOOL_DISABLED, or NOT_IMPLEMENTED when
 * the tool's backend is missing.
 */
export function findTool(toolset: FinalizedToolset, name: string): ConfiguredTool {
  if (!isToolName(name)) {
    throw new ToolError(ErrorCode.INVALID_TOOL_NAME, `${JSON.stringify(shorten(name))} is not a tool name`);
  }
  const found = toolset.byName.get(name);
  if (found === undefined) throw unknownTool(toolset, name);
  if (toolset.disabled.has(name))
    throw new ToolError(ErrorCode.TOOL_DISABLED, `the tool ${name} is switched off`);
  const { tool } = found.registered;
  const missing = missingDependency(found.registered, factsOfSession(toolset.scope));
  if (missing === undefined) return found;
  throw new ToolError(ErrorCode.NOT_IMPLEMENTED, `${name} is not available on this server: no ${missing}`, {
    suggestion:
      tool.dependency?.suggestion ??
      `Configure ${tool.dependency?.setting ?? missing} on the server, or do without this tool.`,
    details: { unavailable: missing, tool_id: tool.id },
  });
}

function unknownTool({ byName, tools }: FinalizedToolset, name: string): ToolError {
  const renamed = tools.find(
    ({ registered }) => registered.canonicalName === name || registered.tool.id === name,
  );
  const close = renamed === undefined ? closestNames(name, [...byName.keys()], 3) : [renamed.clientName];
  return new ToolError(
    ErrorCode.TOOL_NOT_FOUND,
    `no tool named ${shorten(name)}; there are: ${[...byName.keys()].join(", ")}`,
    {
      suggestion: close.length === 0 ? undefined : `Call ${close.join(" or ")} instead.`,
    },
  );
}
