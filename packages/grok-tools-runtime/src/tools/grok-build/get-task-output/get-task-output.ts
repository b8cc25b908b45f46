import { z } from "zod";
import { absentable, lenientInteger, lenientStringList } from "../../../input/lenient.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { heldSubagents } from "../../../shell/held-subagents.ts";
import {
  multiTaskResult,
  singleTaskResult,
  taskNotFound,
  taskOutput,
  toTaskIds,
} from "../../../shell/task-answer.ts";
import { taskRegistry } from "../../../shell/task-registry.ts";
import { viewTasks } from "../../../shell/task-view.ts";
import { maxWaitMs, waitForTasks } from "../../../shell/task-wait.ts";
import type { Subagents } from "../../../subagents/subagents.ts";
import {
  defineTool,
  type RequirementFailure,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

interface GetTaskOutputInput {
  readonly task_ids: readonly string[] | undefined;
  /** Older name of `task_ids`; not advertised. */
  readonly task_id: readonly string[] | undefined;
  readonly timeout_ms: number | undefined;
}

const input: z.ZodType<GetTaskOutputInput> = z.object({
  task_ids: absentable(lenientStringList()).describe("Ids of the tasks, at most 20."),
  task_id: absentable(lenientStringList()),
  timeout_ms: absentable(lenientInteger({ min: 0 })).describe(
    "Milliseconds to wait for the end of the tasks, at most {max_wait_ms}. 0 or absent: look without waiting.",
  ),
});

type Definition = ToolDefinition<typeof input, undefined>;

const shared: Omit<Definition, "id" | "description" | "requires" | "run"> = {
  kind: "background_task_action",
  capabilities: { readOnly: true, cancellable: true, supportsTimeout: true, unlimitedCalls: true },
  input,
  output: taskOutput,
  resources: [taskRegistry],
  specialiseInput: withoutAlias,
};

/** GrokBuild:get_task_output: status and output of background tasks, with an optional wait. */
export const getTaskOutput: Tool = defineTool({
  ...shared,
  id: "GrokBuild:get_task_output",
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
  ],
  description: `Shows status and output of background tasks.

- Give the ids that starting a task returned. Several ids give one row each.
- \`\${{ params.background_task_action.timeout_ms }}\` waits until the tasks have ended; without it the call looks and returns.
- The output of a task is kept in a log, which is named in the answer.`,
  truncation: { builtInMaxOutput: 40_000, legacyKeys: ["get_command_or_subagent_output"] },
  requires: ({ toolset }) => requireProvider(toolset.hasBackgroundProvider(), "tools"),
  run: (given, context) => getOutput(given, context, context.subagents),
});

/** GrokBuild:get_terminal_command_output: the same for toolsets without subagents. */
export const getTerminalCommandOutput: Tool = defineTool({
  ...shared,
  id: "GrokBuild:get_terminal_command_output",
  description: `Shows status and output of commands in the background.

- Give the ids that starting a command returned. Several ids give one row each.
- \`\${{ params.background_task_action.timeout_ms }}\` waits until the commands have ended; without it the call looks and returns.`,
  truncation: { builtInMaxOutput: 40_000 },
  requires: ({ toolset }) => requireProvider(toolset.hasBackgroundProvider(["GrokBuild:task"])),
  run: (given, context) => getOutput(given, context, undefined),
});

async function getOutput(
  given: GetTaskOutputInput,
  context: ToolContext<undefined>,
  subagents: Subagents | undefined,
): Promise<ToolResult> {
  const raw = given.task_ids ?? given.task_id;
  if (raw === undefined) throw ToolError.missingField(context.parameterName("task_ids"));
  const taskIds = toTaskIds(raw, context);
  const registry = context.resource(taskRegistry);
  const [first = ""] = taskIds;
  const isKnown = [registry.get(first), registry.tombstone(first), subagents?.get(first)].some(
    (found) => found !== undefined,
  );
  if (taskIds.length === 1 && !isKnown) {
    const { behaviorVersion } = context;
    return taskNotFound("TaskOutput", first, { registry, subagents, behaviorVersion });
  }
  const limitMs = maxWaitMs(context);
  const timeoutMs = Math.min(given.timeout_ms ?? 0, limitMs);
  const tasks = taskIds.map((taskId) => registry.get(taskId)).filter((task) => task !== undefined);
  using children = heldSubagents(taskIds, { registry, subagents });
  await waitForTasks(tasks, { mode: "wait_all", timeoutMs, others: children.ends }, context);
  const wait = { waitedMs: timeoutMs, maxWaitMs: limitMs };
  const views = await viewTasks({ taskIds, registry, subagents }, context, wait);
  const [only] = views;
  if (views.length === 1 && only !== undefined) return singleTaskResult(only);
  return multiTaskResult(timeoutMs > 0 ? "wait_all" : "poll", views);
}

function requireProvider(hasProvider: boolean, fieldPath?: string): RequirementFailure | undefined {
  if (hasProvider) return undefined;
  return {
    message: "no tool of the toolset starts background tasks",
    ...(fieldPath !== undefined && {
      fieldPath,
      expected: "a shell tool with enabled_background, or a tool that runs subagents",
    }),
  };
}

/** The alias is accepted but not advertised. */
function withoutAlias(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const { task_id: _alias, ...advertised } = properties;
  return { ...schema, properties: advertised };
}
