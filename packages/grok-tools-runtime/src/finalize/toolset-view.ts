import type { Tool, ToolsetView } from "../tool.ts";
import type { ToolKind } from "../tool-kind.ts";

/** A tool of a proposed toolset with the params it would have. */
export interface ProposedTool {
  readonly tool: Tool;
  readonly inputProperties: readonly string[];
  /** Parsed by the tool's params schema. */
  readonly params: unknown;
}

/** What requirements and descriptions may ask about a toolset. */
export function createToolsetView(tools: readonly ProposedTool[]): ToolsetView {
  return {
    hasKind: (kind: ToolKind) => tools.some(({ tool }) => tool.kind === kind),
    hasTool: (id) => tools.some(({ tool }) => tool.id === id),
    hasKindWithInputs: (kind, properties) =>
      tools.some(
        ({ tool, inputProperties }) =>
          tool.kind === kind && properties.every((property) => inputProperties.includes(property)),
      ),
    hasBackgroundProvider: (exceptIds = []) =>
      tools.some(
        ({ tool, params }) =>
          !exceptIds.includes(tool.id) && tool.capabilities.providesBackgroundTasks?.(params) === true,
      ),
  };
}
