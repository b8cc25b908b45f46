import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import { heldSubagents } from "../../../shell/held-subagents.ts";
import { multiTaskResult, taskOutput, toTaskIds } from "../../../shell/task-answer.ts";
import { taskRegistry } from "../../../shell/task-registry.ts";
import { viewTasks } from "../../../shell/task-view.ts";
import { maxWaitMs, waitForTasks } from "../../../shell/task-wait.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";

interface WaitTasksInput {
  readonly task_ids: readonly string[];
  readonly mode: "wait_any" | "wait_all";
  readonly timeout_ms: number | undefined;
}

const input: z.ZodType<WaitTasksInput> = z.object({
  task_ids: z.array(z.string()).describe("Ids of the tasks, 1 to 20."),
  mode: z.enum(["wait_any", "wait_all"]).describe("Wait for the first of them, or for all."),
  timeout_ms: absentable(lenientInteger({ min: 0 })).meta({
    description: "Milliseconds to wait, at most {max_wait_ms}.",
    default: 30_000,
  }),
});

const DEFAULT_TIMEOUT_MS = 30_000;

/** GrokBuild:wait_tasks: waits for one or all of several background tasks. */
export const waitTasks: Tool = defineTool({
  id: "GrokBuild:wait_tasks",
  kind: "wait_tasks_action",
  capabilities: { readOnly: true, cancellable: true, supportsTimeout: true, unlimitedCalls: true },
  description:
    "Waits until all of several background tasks, or the first of them, have ended, and shows their output.",
  input,
  output: taskOutput,
  resources: [taskRegistry],
  truncation: { builtInMaxOutput: 40_000, legacyKeys: ["wait_commands_or_subagents"] },
  requires: ({ toolset }) =>
    toolset.hasBackgroundProvider()
      ? undefined
      : { message: "no tool of the toolset starts background tasks" },
  run: waitForMany,
});

async function waitForMany(given: WaitTasksInput, context: ToolContext<undefined>): Promise<ToolResult> {
  const taskIds = toTaskIds(given.task_ids, context);
  const { mode } = given;
  const wanted = given.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const limitMs = maxWaitMs(context);
  const timeoutMs = Math.min(mode === "wait_all" && wanted === 0 ? DEFAULT_TIMEOUT_MS : wanted, limitMs);
  const registry = context.resource(taskRegistry);
  const tasks = taskIds.map((taskId) => registry.get(taskId)).filter((task) => task !== undefined);
  const { subagents } = context;
  using children = heldSubagents(taskIds, { registry, subagents });
  await waitForTasks(tasks, { mode, timeoutMs, others: children.ends }, context);
  const wait = { waitedMs: timeoutMs, maxWaitMs: limitMs };
  const views = await viewTasks({ taskIds, registry, subagents }, context, wait);
  return multiTaskResult(mode, views);
}
