import type { ServiceImpl } from "@connectrpc/connect";
import type { GrokToolsService } from "@trivium/proto/grok-tools";
import { type GrokToolsServiceDeps, type RequestHeaders, sessionOf } from "./request-metadata.ts";

type AgentRpcs = Pick<
  ServiceImpl<typeof GrokToolsService>,
  "getSystemPrompt" | "getAgentInfo" | "getCompletionState" | "resetCompletionState" | "finalizeAgent"
>;

/**
 * The methods about the agent a server may be set up with. This server has none, which the contract answers with empty
 * values; a session that has ended is refused as everywhere.
 */
export function agentRpcs(deps: GrokToolsServiceDeps): AgentRpcs {
  const inSession =
    <Response>(response: Response) =>
    (_request: unknown, context: RequestHeaders): Response => {
      sessionOf(deps, context);
      return response;
    };
  return {
    getSystemPrompt: inSession({ systemPrompt: "", promptMode: "" }),
    getAgentInfo: inSession({}),
    getCompletionState: inSession({ hasRequirement: false, requiredTool: "", completed: false }),
    resetCompletionState: inSession({}),
    finalizeAgent: inSession({ success: false, systemPrompt: "" }),
  };
}
