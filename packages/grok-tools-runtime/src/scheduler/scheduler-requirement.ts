import type { RequirementContext, RequirementFailure } from "../tool.ts";

/** Nothing can be listed or removed where nothing can be scheduled. */
export function requireSchedulerCreate({
  toolset,
}: RequirementContext<undefined>): RequirementFailure | undefined {
  if (toolset.hasTool("GrokBuild:scheduler_create")) return undefined;
  return { message: "the toolset has no GrokBuild:scheduler_create" };
}
