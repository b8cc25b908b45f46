import type { ConnectRouter } from "@connectrpc/connect";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { agentRpcs } from "./agent-rpcs.ts";
import { deprecatedRpcs } from "./deprecated-rpcs.ts";
import { executeTool } from "./execute-tool.ts";
import { executeToolStream } from "./execute-tool-stream.ts";
import { finalizeToolConfig } from "./finalize-tool-config.ts";
import { getToolState } from "./get-tool-state.ts";
import { getToolInfo, listTools } from "./list-tools.ts";
import type { GrokToolsServiceDeps } from "./request-metadata.ts";

/** Adds xai.grok.tools.v1.GrokToolsService to a router. One line per RPC. The runtime stays with its owner. */
export function grokToolsService(deps: GrokToolsServiceDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(GrokToolsService, {
      finalizeToolConfigRequest: (request, context) => finalizeToolConfig(deps, request, context),
      listTools: (request, context) => listTools(deps, request, context),
      getToolInfo: (request, context) => getToolInfo(deps, request, context),
      executeTool: (request, context) => executeTool(deps, request, context),
      executeToolStream: (request, context) => executeToolStream(deps, request, context),
      getToolState: (request, context) => getToolState(deps, request, context),
      ...deprecatedRpcs(deps),
      ...agentRpcs(deps),
    });
  };
}
