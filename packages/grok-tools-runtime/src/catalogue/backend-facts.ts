import type { RuntimePorts } from "../runtime-ports.ts";
import type { SessionScope } from "../session-resource.ts";
import type { DependencySession } from "../tool.ts";
import type { ToolSettings } from "../tool-settings.ts";

/** What decides which backends are there. */
export interface BackendFacts extends DependencySession {
  readonly settings: ToolSettings;
}

/** What is known before a session is finalized. */
export function factsBeforeFinalize({
  settings,
  subagentRunner,
  workspace: directory,
  homeDirectory,
}: RuntimePorts): BackendFacts {
  const subagentHost = subagentRunner === undefined ? undefined : "local";
  return { settings, subagentHost, directory, homeDirectory };
}

/** What a finalized session has. */
export function factsOfSession({
  settings,
  subagents,
  sessionDirectory: directory,
  homeDirectory,
}: SessionScope): BackendFacts {
  return { settings, subagentHost: subagents.host, directory, homeDirectory };
}
