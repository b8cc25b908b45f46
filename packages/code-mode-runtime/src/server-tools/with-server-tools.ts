import type { ToolDefinition } from "../session-types.ts";
import { canonicalToolName } from "../tool-calls/tool-name.ts";

/** The tools of a program: its own, then those of the server that it does not name itself. */
export function withServerTools(
  tools: readonly ToolDefinition[],
  serverTools: readonly ToolDefinition[],
): readonly ToolDefinition[] {
  const named = new Set(tools.map(canonicalNameOf));
  return [...tools, ...serverTools.filter((tool) => !named.has(canonicalNameOf(tool)))];
}

function canonicalNameOf({ toolName: name, namespace }: ToolDefinition): string {
  return canonicalToolName({ name, namespace });
}
