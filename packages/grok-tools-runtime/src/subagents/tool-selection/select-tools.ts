import type { ConfiguredTool } from "../../finalize/configured-tool.ts";
import type { ToolKind } from "../../tool-kind.ts";
import type { SubagentDefinition } from "../definitions/subagent-definition.ts";
import type { CapabilityMode } from "../subagents.ts";
import { keepsKind } from "./capability-mode.ts";

/** Narrows what a definition allows. */
export interface SelectionLimits {
  /** Of the request, besides the definition's own. */
  readonly capabilityMode: CapabilityMode | undefined;
  /** The child may start children itself. */
  readonly maySpawn: boolean;
}

/** The tools of a session that a child may use, in the session's order. */
export function selectTools(
  tools: readonly ConfiguredTool[],
  definition: SubagentDefinition,
  { capabilityMode, maySpawn }: SelectionLimits,
): ConfiguredTool[] {
  const modes = [definition.capabilityMode, capabilityMode ?? "all"];
  const kept = tools.filter((tool) => {
    const { kind } = tool.registered.tool;
    if (definition.tools !== undefined && !definition.tools.some((name) => means(name, tool))) return false;
    if (definition.disallowedTools.some((name) => means(name, tool))) return false;
    // A child can start no workflow, however deep it may spawn.
    const isPossible = kind !== "workflow" && (maySpawn || kind !== "task");
    return isPossible && modes.every((mode) => keepsKind(mode, kind));
  });
  return kept.some(startsBackgroundWork)
    ? kept
    : kept.filter(({ registered }) => !actsOnTasks(registered.tool.kind));
}

/** Without anything that starts background work there is nothing to look at or to end. */
function startsBackgroundWork({ registered, params }: ConfiguredTool): boolean {
  const { kind, capabilities, params: definition } = registered.tool;
  if (kind === "task" || capabilities.alwaysBackground === true) return true;
  return capabilities.providesBackgroundTasks?.(definition?.schema.parse(params)) === true;
}

function actsOnTasks(kind: ToolKind): boolean {
  return kind === "background_task_action" || kind === "kill_task_action" || kind === "wait_tasks_action";
}

/** Names that definitions of other programs use, by what they do. */
const kindsByCommonName: Readonly<Record<string, readonly ToolKind[]>> = {
  read: ["read"],
  edit: ["edit"],
  multiedit: ["edit"],
  write: ["write", "edit"],
  bash: ["execute"],
  grep: ["search"],
  glob: ["list", "search"],
  ls: ["list", "list_dir"],
  webfetch: ["web_fetch"],
  websearch: ["web_search"],
  todowrite: ["plan"],
  task: ["task"],
  agent: ["task"],
  skill: ["skill"],
  bashoutput: ["background_task_action"],
  taskoutput: ["background_task_action"],
  killshell: ["kill_task_action"],
  lsp: ["lsp"],
};

/** Whether a name in a definition means a tool: `*`, its client name, its name or id, or a common word for its kind. */
function means(name: string, { clientName, registered }: ConfiguredTool): boolean {
  if (name === "*" || name === clientName) return true;
  if (name === registered.canonicalName || name === registered.tool.id) return true;
  const kinds = kindsByCommonName[name.toLowerCase()] ?? [];
  return kinds.includes(registered.tool.kind);
}
