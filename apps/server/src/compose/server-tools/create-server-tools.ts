import { rm } from "node:fs/promises";
import type { ServerToolsPort, ServerToolsRequest } from "@trivium/code-mode-host";
import { randomIds, TriviumError } from "@trivium/core";
import type { GrokToolsRuntime, ToolSession } from "@trivium/grok-tools-runtime";
import { sessionFolder } from "@trivium/grok-tools-runtime/internal";
import { GrokServerTools } from "./grok-server-tools.ts";
import { createToolRules, type ToolRules } from "./tool-rules.ts";

/** What the tools of a server are made of for the programs of code mode. */
export interface ServerToolsOptions {
  readonly runtime: GrokToolsRuntime;
  readonly dataDir: string;
  /** True: sessions that say nothing have them. */
  readonly isDefault: boolean;
  readonly rules: ToolRules;
}

/** Tools of a session that names no tool session, where the default one has none. */
const PRIVATE_TOOLSET = [
  "GrokBuild:run_terminal_cmd",
  "GrokBuild:read_file",
  "GrokBuild:search_replace",
  "GrokBuild:list_dir",
  "GrokBuild:grep",
  "GrokBuild:get_task_output",
  "GrokBuild:kill_task",
  "GrokBuild:todo_write",
];

/** Opens the Grok tools for sessions of code mode. */
export function createServerTools(options: ServerToolsOptions): ServerToolsPort {
  const { runtime, isDefault, rules } = options;
  return {
    isDefault,
    async open(request) {
      if (request.permissionSession !== undefined) {
        throw new TriviumError(
          "unimplemented",
          "calls of programs cannot be asked about in a session yet: leave trivium-permission-session out, and what the rules would ask about is denied",
        );
      }
      const authorise = createToolRules(rules, request);
      const { isReadOnly } = request;
      const shared = sharedSession(runtime, request);
      if (shared !== undefined) return new GrokServerTools({ session: shared, authorise, isReadOnly });
      const id = `code-mode-${randomIds.uuid()}`;
      const session = await runtime.openSession({ id, tools: PRIVATE_TOOLSET });
      const close = async (): Promise<void> => {
        await session.close();
        // Nobody can come back to it: its id was never told.
        await rm(sessionFolder(options.dataDir, id), { recursive: true, force: true });
      };
      return new GrokServerTools({ session, authorise, isReadOnly, close });
    },
  };
}

/** The session a request names, or the default one if it has tools. */
function sharedSession(
  { sessions }: GrokToolsRuntime,
  { toolSession }: ServerToolsRequest,
): ToolSession | undefined {
  const session = sessions.session(toolSession);
  if (session.status === "finalized") return session;
  if (toolSession === undefined) return undefined;
  throw new TriviumError(
    "failedPrecondition",
    `the tool session ${toolSession} has no tools yet: call FinalizeToolConfigRequest in it first`,
  );
}
