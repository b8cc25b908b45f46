import type { SessionScope } from "../session-resource.ts";

/** What the session calls a parameter of its tool that starts subagents, for messages. */
export function taskParameter(
  { configuredTools }: Pick<SessionScope, "configuredTools">,
  canonical: string,
): string {
  const tool = configuredTools.find(({ kind }) => kind === "task");
  return tool?.parameterNames?.[canonical] ?? canonical;
}
