import type { ResourceDefinition } from "../session-resource.ts";
import { sessionSkills } from "../skills/session-skills.ts";
import { todoNudge } from "../todo/todo-nudge.ts";
import type { ToolKind } from "../tool-kind.ts";
import type { ConfiguredTool } from "./configured-tool.ts";

/**
 * Resources that a session has because of the kinds of its tools, whichever tools these are. They are made after those
 * the tools ask for, so their reminders come last, in this order.
 */
export function observersOf(tools: readonly ConfiguredTool[]): ResourceDefinition[] {
  return observers
    .filter(({ kinds }) => tools.some(({ registered }) => kinds.includes(registered.tool.kind)))
    .map(({ definition }) => definition);
}

const observers: readonly { readonly definition: ResourceDefinition; readonly kinds: readonly ToolKind[] }[] =
  [
    { definition: sessionSkills, kinds: ["read", "edit", "write", "list", "list_dir", "skill"] },
    { definition: todoNudge, kinds: ["plan"] },
  ];
