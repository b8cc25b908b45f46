import { systemClock } from "@trivium/core";
import type { OpenMcp } from "@trivium/crabcode-runtime";
import { startMcpProcess } from "@trivium/grok-tools-runtime/internal";
import { McpServers } from "@trivium/mcp";
import type { ConfigValues } from "../../config/config-keys.ts";
import { keyVariables } from "../model-settings.ts";
import type { Part } from "../part.ts";
import type { ToolsPart } from "../tools-part.ts";
import { webKeyVariables } from "../web-settings.ts";

/** What a server's program gets of this server's variables, whatever commands get. */
const policy = {
  inherit: "core",
  exclude: [],
  set: {},
  includeOnly: [],
  ignoreDefaultExcludes: false,
} as const;

/** Reaches the MCP servers of conversations. Their programs are supervised like commands and work in the session's folder. */
export function openMcp(values: ConfigValues, { env, logger }: Part, tools: ToolsPart): OpenMcp {
  const secretVariables = [...keyVariables(values), ...webKeyVariables(values)];
  return ({ sessionId, cwd, servers }) =>
    new McpServers({
      servers,
      startProcess: startMcpProcess({
        programRunner: tools.processes.programs,
        sessionDirectory: cwd,
        environment: env,
        settings: { environment: policy },
        secretVariables,
      }),
      clock: systemClock,
      logger: logger.child({ part: "mcp", sessionId }),
    });
}
