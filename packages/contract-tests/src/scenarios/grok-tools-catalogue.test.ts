import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  FinalizeConfigValidationDetailsSchema,
  GrokToolsService,
  ToolCategory,
} from "@trivium/proto/grok-tools";
import { expect } from "vitest";
import { statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

useServer();

const { FILE, SEARCH, SHELL, WORKFLOW, EXTERNAL } = ToolCategory;

/** Names by namespace and category. */
const catalogue: Readonly<Record<string, readonly (readonly [ToolCategory, names: string])[]>> = {
  GrokBuild: [
    [FILE, "read_file search_replace list_dir"],
    [SEARCH, "grep lsp"],
    [
      SHELL,
      "run_terminal_cmd kill_task kill_terminal_command get_task_output get_terminal_command_output wait_tasks monitor",
    ],
    [
      WORKFLOW,
      "todo_write update_goal workflow task enter_plan_mode exit_plan_mode ask_user_question " +
        "scheduler_create scheduler_delete scheduler_list",
    ],
    [
      EXTERNAL,
      "web_search web_fetch image_gen image_edit image_to_video reference_to_video " +
        "memory_search memory_get search_tool use_tool",
    ],
  ],
  GrokBuildConcise: [
    [SHELL, "run_terminal_cmd"],
    [FILE, "read_file search_replace"],
  ],
  GrokBuildHashline: [
    [FILE, "hashline_read hashline_edit"],
    [SEARCH, "hashline_grep"],
  ],
  Codex: [
    [FILE, "apply_patch list_dir read_file"],
    [SEARCH, "grep_files"],
  ],
  OpenCode: [
    [SHELL, "bash"],
    [FILE, "read edit write glob"],
    [SEARCH, "grep"],
    [WORKFLOW, "todowrite skill"],
  ],
};

verifies("list-tools:catalogue", async ({ transport, uniqueName }) => {
  const tools = createClient(GrokToolsService, transport);
  const call = { headers: { "x-trivium-session": uniqueName } };
  const { tools: listed, totalCount } = await tools.listTools({ includeDisabled: true }, call);
  const expected = Object.entries(catalogue).flatMap(([namespace, categories]) =>
    categories.flatMap(([category, names]) =>
      names.split(" ").map((name) => `${namespace}:${name} ${category}`),
    ),
  );
  expect(totalCount).toBe(50);
  expect(
    listed.map(({ namespace, name, category }) => `${namespace}:${name} ${category}`).toSorted(),
  ).toEqual(expected.toSorted());
});

const managed = [
  "run_terminal_cmd",
  "read_file",
  "search_replace",
  "list_dir",
  "grep",
  "kill_task",
  "get_task_output",
].map((name) => `GrokBuild:${name}`);

verifies("finalize:versions", async ({ transport, uniqueName }) => {
  const tools = createClient(GrokToolsService, transport);
  let count = 0;
  const finalize = (behaviorPreset: string, overrides: Record<string, string> = {}) =>
    tools.finalizeToolConfigRequest(
      {
        behaviorPreset,
        tools: [...managed, "GrokBuild:todo_write"].map((id) => ({
          id,
          ...(overrides[id] !== undefined && { behaviorVersion: overrides[id] }),
        })),
      },
      { headers: { "x-trivium-session": `${uniqueName}-${++count}` } },
    );
  const versions = async (...values: Parameters<typeof finalize>) =>
    (await finalize(...values)).tools.map(({ contractVersion }) => contractVersion);
  const [legacy, current] = ["legacy-0.4.10", "current"];
  const asCurrent = [...managed.map(() => current), ""];
  const asLegacy = [...managed.map((id) => (id === "GrokBuild:grep" ? current : legacy)), ""];
  expect(await versions(current)).toEqual(asCurrent);
  expect(await versions("release-0.1.157")).toEqual(asCurrent);
  expect(await versions(legacy)).toEqual(asLegacy);
  for (const id of managed) {
    if (id === "GrokBuild:grep") continue;
    const of = (all: string[], version: string) => all.with(managed.indexOf(id), version);
    expect(await versions(legacy, { [id]: current })).toEqual(of(asLegacy, current));
    expect(await versions(current, { [id]: legacy })).toEqual(of(asCurrent, legacy));
  }
  for (const [id, version] of [
    ["GrokBuild:grep", legacy],
    ["GrokBuild:todo_write", current],
    ["GrokBuild:todo_write", ""],
    ["GrokBuild:read_file", "0.0.1"],
  ] as const) {
    const error = ConnectError.from(await statusOf(finalize(current, { [id]: version })));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.findDetails(FinalizeConfigValidationDetailsSchema)[0]?.violations).toMatchObject([
      { toolId: id, category: "behavior_version", fieldPath: "behavior_version" },
    ]);
  }
});
