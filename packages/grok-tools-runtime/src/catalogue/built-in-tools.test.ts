import { describe, expect, it } from "vitest";
import { builtInTools } from "./built-in-tools.ts";

/** Every tool of the contract: its kind, and whether it only reads. */
const catalogue: readonly (readonly [id: string, kind: string, access: "reads" | "acts"])[] = [
  ["GrokBuild:run_terminal_cmd", "execute", "acts"],
  ["GrokBuild:read_file", "read", "reads"],
  ["GrokBuild:search_replace", "edit", "acts"],
  ["GrokBuild:list_dir", "list", "reads"],
  ["GrokBuild:grep", "search", "reads"],
  ["GrokBuild:kill_task", "kill_task_action", "acts"],
  ["GrokBuild:kill_terminal_command", "kill_task_action", "acts"],
  ["GrokBuild:todo_write", "plan", "acts"],
  ["GrokBuild:update_goal", "goal_update", "acts"],
  ["GrokBuild:workflow", "workflow", "acts"],
  ["GrokBuild:get_task_output", "background_task_action", "reads"],
  ["GrokBuild:get_terminal_command_output", "background_task_action", "reads"],
  ["GrokBuild:wait_tasks", "wait_tasks_action", "reads"],
  ["GrokBuild:task", "task", "acts"],
  ["GrokBuild:web_search", "web_search", "reads"],
  ["GrokBuild:web_fetch", "web_fetch", "reads"],
  ["GrokBuild:lsp", "lsp", "reads"],
  ["GrokBuild:image_gen", "image_gen", "acts"],
  ["GrokBuild:image_edit", "image_gen", "acts"],
  ["GrokBuild:image_to_video", "image_to_video", "acts"],
  ["GrokBuild:reference_to_video", "reference_to_video", "acts"],
  ["GrokBuild:enter_plan_mode", "enter_plan", "reads"],
  ["GrokBuild:exit_plan_mode", "exit_plan", "reads"],
  ["GrokBuild:ask_user_question", "ask_user", "reads"],
  ["GrokBuild:monitor", "monitor", "acts"],
  ["GrokBuild:scheduler_create", "other", "acts"],
  ["GrokBuild:scheduler_delete", "other", "acts"],
  ["GrokBuild:scheduler_list", "other", "acts"],
  ["GrokBuild:memory_search", "memory_search", "reads"],
  ["GrokBuild:memory_get", "memory_get", "reads"],
  ["GrokBuild:search_tool", "search_tool", "acts"],
  ["GrokBuild:use_tool", "use_tool", "acts"],
  ["GrokBuildConcise:run_terminal_cmd", "execute", "acts"],
  ["GrokBuildConcise:read_file", "read", "reads"],
  ["GrokBuildConcise:search_replace", "edit", "acts"],
  ["GrokBuildHashline:hashline_read", "read", "reads"],
  ["GrokBuildHashline:hashline_edit", "edit", "acts"],
  ["GrokBuildHashline:hashline_grep", "search", "reads"],
  ["Codex:apply_patch", "edit", "acts"],
  ["Codex:list_dir", "list_dir", "reads"],
  ["Codex:grep_files", "search", "reads"],
  ["Codex:read_file", "read", "reads"],
  ["OpenCode:bash", "execute", "acts"],
  ["OpenCode:read", "read", "reads"],
  ["OpenCode:edit", "edit", "acts"],
  ["OpenCode:write", "write", "acts"],
  ["OpenCode:grep", "search", "reads"],
  ["OpenCode:glob", "list", "reads"],
  ["OpenCode:todowrite", "plan", "acts"],
  ["OpenCode:skill", "skill", "acts"],
];

/** Tools whose behaviour has versions; all others have none. */
const managed = [
  "GrokBuild:run_terminal_cmd",
  "GrokBuild:read_file",
  "GrokBuild:search_replace",
  "GrokBuild:list_dir",
  "GrokBuild:grep",
  "GrokBuild:kill_task",
  "GrokBuild:get_task_output",
];

describe("the catalogue", () => {
  it("is these tools and no others, with these kinds", () => {
    const found = builtInTools.map(
      ({ id, kind, capabilities }) => `${id} ${kind} ${capabilities.readOnly ? "reads" : "acts"}`,
    );
    expect(found).toHaveLength(50);
    expect(found.toSorted()).toEqual(catalogue.map((row) => row.join(" ")).toSorted());
  });

  it("has versions for these tools only", () => {
    const found = builtInTools.filter(({ behaviorVersions }) => behaviorVersions.length > 0);
    expect(found.map(({ id }) => id).toSorted()).toEqual(managed.toSorted());
  });
});
