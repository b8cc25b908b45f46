import { BUILT_IN_TYPES, toolsOfType } from "../agents/agent-tool-list.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import { openSkills, openTools } from "../sessions/open-tools.ts";
import { readSettings } from "../settings/read-settings.ts";
import type { SessionRow } from "../store/session-index.ts";
import type { SessionCallDeps } from "./session-call-deps.ts";
import type { SessionToolListing } from "./session-types.ts";

/** Agents that clients and the main loop make. */
const FIRST_DEPTH = 1;

/**
 * What a model is offered in a session; of one that is not loaded what it would be, without the tools of servers that
 * only a loaded session has. Skills are looked for anew.
 */
export async function listTools(
  { registry, environment, settings: sources }: SessionCallDeps,
  { sessionId, cwd }: SessionRow,
  subagentType: string,
): Promise<SessionToolListing> {
  const session = registry.peek(sessionId);
  const settings = session?.parts.settings ?? readSettings(sources, cwd, environment.logger);
  const skills = session === undefined ? openSkills(environment, { cwd }) : session.skills;
  await skills?.refresh(new AbortController().signal);
  const others = skills === undefined ? [] : [skills];
  const all = (
    session?.tools ??
    openTools(environment, { settings, cwd }, { agents: notLoaded, checkpoints: notLoaded, others })
  ).all;
  const isKnown = BUILT_IN_TYPES.has(subagentType) || settings.agents.types.has(subagentType);
  if (subagentType !== "" && !isKnown) {
    throw new CrabcodeError("SUBAGENT_TYPE_UNKNOWN", "no agent type has that name", { sessionId });
  }
  const tools =
    subagentType === ""
      ? all
      : toolsOfType(all, { type: subagentType, depth: FIRST_DEPTH, settings: settings.agents }).all;
  const isPlanMode = subagentType === "" && session?.mode === "plan";
  return {
    sessionId,
    tools: tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      isReadOnly: tool.isReadOnly,
      isConcurrencySafe: tool.isConcurrencySafe,
      isEnabled: !isPlanMode || tool.isReadOnly,
      source: tool.source,
    })),
  };
}

/** Tools that are only looked at have nothing to work with. */
function notLoaded(): never {
  throw new Error("the session is not loaded");
}
