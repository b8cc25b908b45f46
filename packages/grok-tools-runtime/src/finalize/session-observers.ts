import { instructionTracker } from "../instructions/instruction-tracker.ts";
import { sessionLsp } from "../lsp/session-lsp.ts";
import type { ResourceDefinition } from "../session-resource.ts";
import { sessionSkills } from "../skills/session-skills.ts";
import { todoNudge } from "../todo/todo-nudge.ts";
import type { ToolKind } from "../tool-kind.ts";
import type { ConfiguredTool } from "./configured-tool.ts";

/** Resources that a session has because of the kinds of its tools, whichever tools these are. */
export interface SessionObservers {
  /** To be made before those the tools ask for: their reminders come first. */
  readonly first: readonly ResourceDefinition[];
  /** To be made after them: their reminders come last, in this order. */
  readonly last: readonly ResourceDefinition[];
}

/** The observers of a session. */
export function observersOf(tools: readonly ConfiguredTool[]): SessionObservers {
  const wanted = (observers: readonly Observer[]): ResourceDefinition[] =>
    observers
      .filter(({ kinds }) => tools.some(({ registered }) => kinds.includes(registered.tool.kind)))
      .map(({ definition }) => definition);
  return { first: wanted(firstObservers), last: wanted(lastObservers) };
}

interface Observer {
  readonly definition: ResourceDefinition;
  readonly kinds: readonly ToolKind[];
}

const firstObservers: readonly Observer[] = [{ definition: sessionLsp, kinds: ["lsp", "edit", "write"] }];

const lastObservers: readonly Observer[] = [
  { definition: sessionSkills, kinds: ["read", "edit", "write", "list", "list_dir", "skill"] },
  { definition: instructionTracker, kinds: ["read", "edit", "write", "list", "list_dir"] },
  { definition: todoNudge, kinds: ["plan"] },
];
