import type { ToolDependency } from "../tool.ts";

/** The memory is built in; a server may switch it off. */
export const memoryDependency: ToolDependency = {
  name: "memory",
  setting: "tools.memory.enabled",
  isConfigured: ({ memory }) => memory.enabled,
};
