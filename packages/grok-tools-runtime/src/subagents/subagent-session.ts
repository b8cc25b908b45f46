import type { CallOptions } from "../execute/call-options.ts";
import type { ToolAnswer } from "../execute/tool-answer.ts";
import type { JsonObject } from "../json.ts";
import type { ToolCard } from "../tool-card.ts";

/** The session a child belongs to, as far as a runner of this process needs it. */
export interface SubagentSession {
  /** All tools of the session; a child has those of its `toolNames`. */
  listTools(): ToolCard[];
  /** Runs a tool of the session. A child says its id as `promptId`. */
  execute(toolName: string, input: JsonObject | string, options?: CallOptions): Promise<ToolAnswer>;
}
