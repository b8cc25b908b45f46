import { z } from "zod";
import { taskNotFound } from "../../../shell/task-answer.ts";
import { taskRegistry } from "../../../shell/task-registry.ts";
import type { TaskTombstone } from "../../../shell/task-tombstones.ts";
import type { Subagent, Subagents } from "../../../subagents/subagents.ts";
import {
  defineTool,
  type RequirementFailure,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

interface KillTaskInput {
  readonly task_id: string;
}

const input: z.ZodType<KillTaskInput> = z.object({
  task_id: z.string().describe("Id of the task to end."),
});

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;

const type = z.literal("KillTask");

const shared: Omit<ToolDefinition<typeof input, undefined>, "id" | "description" | "requires" | "run"> = {
  kind: "kill_task_action",
  capabilities: { readOnly: false },
  input,
  output: {
    schema: z.union([
      z.object({
        type,
        Result: z.object({
          task_id: z.string(),
          outcome: z.enum(["killed", "already_exited"]),
          message: z.string(),
        }),
      }),
      z.object({ type, TaskNotFound: z.string() }),
    ]),
    fields: [
      { name: "task_id", description: "Id of the task.", type: "string" },
      { name: "outcome", description: "killed or already_exited.", type: "string" },
      { name: "message", description: "What was done.", type: "string" },
    ],
  },
  resources: [taskRegistry],
};

/** GrokBuild:kill_task: ends a background task with everything it has started. */
export const killTask: Tool = defineTool({
  ...shared,
  id: "GrokBuild:kill_task",
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
  ],
  description: `Ends a background task with every process it has started: it is asked first and killed a second later. Its output stays readable.`,
  requires: ({ toolset }) => requireProvider(toolset.hasBackgroundProvider()),
  run: (given, context) => kill(given, context, context.subagents),
});

/** GrokBuild:kill_terminal_command: the same for toolsets without subagents. */
export const killTerminalCommand: Tool = defineTool({
  ...shared,
  id: "GrokBuild:kill_terminal_command",
  description: `Ends a command in the background with every process it has started: it is asked first and killed a second later. Its output stays readable.`,
  requires: ({ toolset }) => requireProvider(toolset.hasBackgroundProvider(["GrokBuild:task"])),
  run: (given, context) => kill(given, context, undefined),
});

async function kill(
  given: KillTaskInput,
  context: ToolContext<undefined>,
  subagents: Subagents | undefined,
): Promise<ToolResult> {
  const taskId = given.task_id.trim();
  const field = context.parameterName("task_id");
  if (taskId === "") throw ToolError.invalidField(field, `${field} is blank; give the id of a task`);
  const registry = context.resource(taskRegistry);
  const task = registry.get(taskId);
  if (task === undefined) {
    const tombstone = registry.tombstone(taskId);
    if (tombstone !== undefined) return alreadyEnded(tombstone);
    const child = subagents?.get(taskId);
    if (child !== undefined) return await killSubagent(child);
    return taskNotFound("KillTask", taskId, {
      registry,
      subagents,
      behaviorVersion: context.behaviorVersion,
    });
  }
  task.isKillAwaited = !task.hasEnded;
  const wasKilled = await task.kill(GRACE_MS);
  // The caller knows now; a reminder would tell it again.
  task.isReported = true;
  const outcome = wasKilled ? "killed" : "already_exited";
  const message = wasKilled
    ? `the task ${taskId} was ended after ${(task.durationMs / 1000).toFixed(1)}s`
    : `the task ${taskId} had ended before (${task.status})`;
  return killResult(taskId, outcome, message);
}

function alreadyEnded({ task_id: taskId, status, ended }: TaskTombstone): ToolResult {
  const how = ended === null ? "was ended when its server ended" : `had ended before (${status})`;
  return killResult(taskId, "already_exited", `the task ${taskId} ${how}`);
}

async function killSubagent(child: Subagent): Promise<ToolResult> {
  const wasKilled = await child.cancel("it was killed");
  child.markDelivered();
  if (wasKilled) return killResult(child.id, "killed", `the subagent ${child.id} was ended`);
  return killResult(
    child.id,
    "already_exited",
    `the subagent ${child.id} had ended before (${child.status})`,
  );
}

function killResult(taskId: string, outcome: "killed" | "already_exited", message: string): ToolResult {
  return {
    output: { type: "KillTask", Result: { task_id: taskId, outcome, message } },
    promptText: `${outcome}: ${message}`,
  };
}

function requireProvider(hasProvider: boolean): RequirementFailure | undefined {
  return hasProvider ? undefined : { message: "no tool of the toolset starts background tasks" };
}
