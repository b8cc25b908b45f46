import { rm } from "node:fs/promises";
import type { ServerToolsPort, ServerToolsRequest } from "@trivium/code-mode-host";
import { randomIds, TriviumError } from "@trivium/core";
import type { GrokToolsRuntime, ToolSession } from "@trivium/grok-tools-runtime";
import { sessionFolder } from "@trivium/grok-tools-runtime/internal";
import { noConversations, type OpenGate, toChoiceAsker } from "../permission-session.ts";
import { GrokServerTools } from "./grok-server-tools.ts";
import { createToolRules, type ToolRules } from "./tool-rules.ts";

/** What the tools of a server are made of for the programs of code mode. */
export interface ServerToolsOptions {
  readonly runtime: GrokToolsRuntime;
  readonly dataDir: string;
  /** True: sessions that say nothing have them. */
  readonly isDefault: boolean;
  readonly rules: ToolRules;
  /** The permissions and the people of a conversation. Absent: this server has no conversations. */
  readonly openGate?: OpenGate | undefined;
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
  const { runtime, isDefault, rules, openGate = noConversations } = options;
  return {
    isDefault,
    async open(request) {
      const { isReadOnly, permissionSession } = request;
      const gate = permissionSession === undefined ? undefined : await openGate(permissionSession);
      const common = {
        isReadOnly,
        authorise: createToolRules(rules, { isReadOnly, gate }),
        // Its calls are named after the session of code mode, so nothing needs to tell them apart.
        choiceAsker: gate && toChoiceAsker(gate),
      };
      const shared = sharedSession(runtime, request);
      if (shared !== undefined) return new GrokServerTools({ ...common, session: shared });
      const id = `code-mode-${randomIds.uuid()}`;
      const session = await runtime.openSession({ id, tools: PRIVATE_TOOLSET });
      const close = async (): Promise<void> => {
        await session.close();
        // Nobody can come back to it: its id was never told.
        await rm(sessionFolder(options.dataDir, id), { recursive: true, force: true });
      };
      return new GrokServerTools({ ...common, session, close });
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
