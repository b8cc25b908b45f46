import type { McpServerConfig } from "@trivium/mcp";
import { z } from "zod";

const timeoutMs = z.int().positive().optional();

const limits = {
  startupTimeoutMs: timeoutMs.describe("From the start to the list of tools. Default 30000."),
  callTimeoutMs: timeoutMs.describe("For one call. Default 120000."),
  toolTimeoutsMs: z.record(z.string(), z.int().positive()).optional().describe("For calls of single tools."),
};

const program = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  ...limits,
});

const address = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).optional(),
  ...limits,
});

/** A name that can stand before `__` in the name of a tool. */
const serverName = z.string().regex(/^(?!.*__)[a-zA-Z][a-zA-Z0-9_-]{0,39}$/);

/** The servers of `tools.mcpServers` by name. */
export const mcpServersSchema: z.ZodType<Record<string, McpServerConfig>> = z.record(
  serverName,
  z.union([program, address]),
);
