import type { ConfigEntry, Vector } from "./vector.ts";

const shells = [
  "GrokBuild:run_terminal_cmd",
  "GrokBuildConcise:run_terminal_cmd",
  "GrokBuild:bash",
  "OpenCode:bash",
];
const taskTools = ["GrokBuild:get_task_output", "GrokBuild:kill_task"];
const needsShell = [
  ...taskTools,
  "GrokBuild:wait_tasks",
  "GrokBuild:get_terminal_command_output",
  "GrokBuild:kill_terminal_command",
];
/** A finalize entry that stands for another tool and is listed nowhere. */
const aliases = new Map([["GrokBuild:bash", "GrokBuild:run_terminal_cmd"]]);

/** The finalize entries of a case: its own list, or its tools with whatever those demand. */
export function toolsetOf(vector: Vector): readonly ConfigEntry[] {
  if (vector.tools !== undefined) return vector.tools;
  const ids = new Set([vector.tool, ...vector.steps.map(({ tool }) => tool ?? vector.tool)]);
  // A set that grows while it is walked hands out what was added, too.
  for (const id of ids) for (const demanded of demandsOf(id, ids, vector)) ids.add(demanded);
  return [...ids].map((id) => ({
    id,
    ...(id === vector.tool && vector.params !== undefined && { params_json: JSON.stringify(vector.params) }),
    ...(id === vector.tool &&
      vector.behavior_version !== undefined && { behavior_version: vector.behavior_version }),
  }));
}

/** Ids of a toolset's tools as a server lists them before finalize. */
export function registeredIdsOf(entries: readonly ConfigEntry[]): string[] {
  return [...new Set(entries.map(({ id }) => aliases.get(id) ?? id))];
}

function demandsOf(id: string, ids: ReadonlySet<string>, vector: Vector): readonly string[] {
  const params = id === vector.tool ? vector.params : undefined;
  if (needsShell.includes(id)) return shells.some((shell) => ids.has(shell)) ? [] : [shells[0] as string];
  switch (id) {
    case "GrokBuild:run_terminal_cmd":
    case "GrokBuildConcise:run_terminal_cmd":
      return params?.["enabled_background"] === false ? [] : taskTools;
    case "GrokBuild:task":
      return taskTools;
    case "GrokBuild:search_replace":
      return params?.["skip_read_before_edit"] === true ? [] : ["GrokBuild:read_file"];
    case "GrokBuild:enter_plan_mode":
      return ["GrokBuild:exit_plan_mode"];
    case "GrokBuild:exit_plan_mode":
      return ["GrokBuild:enter_plan_mode"];
    case "GrokBuild:scheduler_delete":
    case "GrokBuild:scheduler_list":
      return ["GrokBuild:scheduler_create"];
    default:
      return [];
  }
}
