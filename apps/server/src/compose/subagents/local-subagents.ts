import { createHostedAgents } from "@trivium/crabcode-runtime";
import type { SubagentRunner } from "@trivium/grok-tools-runtime";
import type { ConfigValues } from "../../config/config-keys.ts";
import { agentSources } from "../agent-sources.ts";
import type { Part } from "../part.ts";
import { createLocalRunner } from "./local-runner.ts";

/**
 * Who runs the subagents of tool sessions whose client does not: agents of the crabcode service, when the server has
 * it and a model was chosen for it. Undefined: nobody.
 */
export function startLocalSubagents(values: ConfigValues, part: Part): SubagentRunner | undefined {
  if (!values.services.includes("crabcode")) return undefined;
  const agents = part.stack.use(
    createHostedAgents({
      ...agentSources(values, part),
      cwd: values.workspace,
      logger: part.logger.child({ part: "subagents" }),
    }),
  );
  return agents.hasModel ? createLocalRunner(agents) : undefined;
}
