import type { AgentManager } from "../agents/agent-manager.ts";
import { agentTools } from "../agents/agent-tools.ts";
import { checkpointTools } from "../checkpoints/checkpoint-tools.ts";
import type { SessionCheckpoints } from "../checkpoints/session-checkpoints.ts";
import { codeTools } from "../code/code-tools.ts";
import { SessionMcp } from "../mcp/session-mcp.ts";
import { SessionSkills } from "../skills/session-skills.ts";
import { createLint } from "../tools/lint.ts";
import { createMemory } from "../tools/memory.ts";
import { type ChangingTools, SessionTools } from "../tools/session-tools.ts";
import { builtInTools } from "../tools/tool-set.ts";
import { createWebSearch } from "../tools/web-search.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";

/** The servers whose tools a session has, not started yet; undefined where there are none. Owned by the session. */
export function openMcp(environment: SessionEnvironment, parts: SessionParts): SessionMcp | undefined {
  const { openMcp: open, userFolder, homeFolder, logger } = environment;
  if (open === undefined) return undefined;
  const { sessionId, cwd, settings } = parts;
  const { isTrustedFolder, mcpServers } = settings;
  const sources = { cwd, userFolder, homeFolder, isTrustedFolder, settings: mcpServers };
  return new SessionMcp({ sessionId, sources, open, logger });
}

/** The skills of a session; undefined where nobody looks for any. */
export function openSkills(
  environment: SessionEnvironment,
  { cwd }: Pick<SessionParts, "cwd">,
): SessionSkills | undefined {
  const { skills: port, userFolder, homeFolder, clock, logger } = environment;
  if (port === undefined) return undefined;
  return new SessionSkills({ port, cwd, userFolder, homeFolder, clock, logger });
}

/** The tools of a session. */
export function openTools(
  environment: SessionEnvironment,
  { settings, cwd }: Pick<SessionParts, "settings" | "cwd">,
  {
    agents,
    checkpoints,
    others,
  }: {
    agents: () => AgentManager;
    checkpoints: () => SessionCheckpoints;
    /** Those that come and go. */
    others: readonly ChangingTools[];
  },
): SessionTools {
  const { ids, codeCells, userFolder, webSearch: search, runProgram: run } = environment;
  const code = codeCells === undefined || !settings.code.isEnabled ? [] : codeTools(codeCells);
  const memory = createMemory({ newId: () => ids.hex(6), userFolder });
  const builtIn = [...builtInTools(() => ids.hex(4)), memory, ...checkpointTools(checkpoints)];
  const web = search === undefined ? [] : [createWebSearch({ search, settings: settings.tools.webSearch })];
  const { isTrustedFolder } = settings;
  const lint = run === undefined ? [] : [createLint({ run, cwd, isTrustedFolder })];
  return new SessionTools([...builtIn, ...lint, ...web, ...code, ...agentTools(agents)], others);
}
