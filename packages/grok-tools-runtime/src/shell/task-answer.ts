import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import type { Subagents } from "../subagents/subagents.ts";
import type { ToolContext, ToolOutputDefinition, ToolResult } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { TaskView } from "./task-text.ts";

/** Most tasks one call may ask for. */
export const MAX_TASK_IDS = 20;

const ENDED: ReadonlySet<TaskView["status"]> = new Set(["completed", "failed", "cancelled", "timed_out"]);

/**
 * Ids without blanks and repetitions.
 *
 * @throws {@link ToolError} INVALID_INPUT for none or too many.
 */
export function toTaskIds(
  raw: readonly string[],
  { parameterName }: Pick<ToolContext, "parameterName">,
): string[] {
  const field = parameterName("task_ids");
  const taskIds = [...new Set(raw.map((taskId) => taskId.trim()).filter((taskId) => taskId !== ""))];
  if (taskIds.length === 0)
    throw ToolError.invalidField(field, `${field} names no task; give at least one task id`);
  if (taskIds.length > MAX_TASK_IDS) {
    throw ToolError.invalidField(
      field,
      `${field} names ${taskIds.length} tasks; give at most ${MAX_TASK_IDS}`,
    );
  }
  return taskIds;
}

/** What an id could have named. */
interface KnownTasks {
  readonly registry: TaskRegistry;
  readonly subagents?: Pick<Subagents, "list"> | undefined;
}

/** The answer about an id that names no task. */
export function taskNotFound(
  type: "TaskOutput" | "KillTask",
  taskId: string,
  { behaviorVersion, ...known }: KnownTasks & { behaviorVersion: string | undefined },
): ToolResult {
  const text = notFoundText(type, taskId, { ...known, isLegacy: behaviorVersion === "legacy-0.4.10" });
  return {
    output: { type, TaskNotFound: text },
    promptText: text,
    failure: { code: ErrorCode.INVALID_INPUT, reason: "task_not_found" },
  };
}

function notFoundText(
  type: "TaskOutput" | "KillTask",
  taskId: string,
  { registry, subagents, isLegacy }: KnownTasks & { isLegacy: boolean },
): string {
  if (isLegacy) return `Task ${taskId} not found`;
  const children = subagents?.list().map(({ id }) => id) ?? [];
  const known = [...registry.knownIds(), ...children];
  const label = type === "KillTask" ? "Known bash task IDs" : "Known task IDs";
  return known.length === 0
    ? `There is no task ${taskId}. No background tasks exist in this session.`
    : `There is no task ${taskId}. ${label}: [${known.join(", ")}]`;
}

/** The answer about one task. */
export function singleTaskResult(view: TaskView): ToolResult {
  return {
    output: { type: "TaskOutput", Result: { ...view } },
    promptText: [
      `=== Task ${view.task_id} ===`,
      `Command: ${view.command}`,
      `Status: ${view.status}`,
      `Duration: ${view.duration_secs.toFixed(2)}s`,
      ...(view.exit_code === null ? [] : [`Exit Code: ${view.exit_code}`]),
      ...(view.output_file === "" ? [] : [`Output File: ${view.output_file}`]),
      "",
      "=== Output ===",
      outputText(view),
      ...(view.truncation_hint === null ? [] : [view.truncation_hint]),
    ].join("\n"),
    truncated: view.truncated,
  };
}

/** The answer about several tasks, in the order they were asked for. */
export function multiTaskResult(
  mode: "poll" | "wait_all" | "wait_any",
  views: readonly TaskView[],
): ToolResult {
  const endedCount = views.filter((view) => ENDED.has(view.status)).length;
  const summary = `${endedCount}/${views.length} tasks completed (${mode})`;
  const rows = views.flatMap((view) => [
    `--- Task ${view.task_id} [${view.status}] ---`,
    `Command: ${view.command}`,
    `Duration: ${view.duration_secs.toFixed(2)}s`,
    ...(view.exit_code === null ? [] : [`Exit Code: ${view.exit_code}`]),
    outputText(view),
  ]);
  return {
    output: {
      type: "TaskOutput",
      MultiResult: { mode, results: views.map((view) => ({ ...view })), summary },
    },
    promptText: [`=== Multi-wait (${mode}) ===`, ...rows, "", summary].join("\n"),
    truncated: views.some((view) => view.truncated),
  };
}

function outputText(view: TaskView): string {
  if (view.output !== "") return view.output;
  return view.status === "running" || view.status === "initializing" ? "(no output yet)" : "(no output)";
}

const viewSchema = z.object({
  task_id: z.string(),
  command: z.string(),
  status: z.enum(["running", "initializing", "completed", "failed", "cancelled", "timed_out", "not_found"]),
  exit_code: z.int().nullable(),
  started: z.string(),
  ended: z.string().nullable(),
  duration_secs: z.number(),
  output: z.string(),
  output_file: z.string(),
  truncated: z.boolean(),
  truncation_hint: z.string().nullable(),
  raw_output_bytes: z.int(),
});
const type = z.literal("TaskOutput");

/** The union value `TaskOutput`. */
export const taskOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({ type, Result: viewSchema }),
    z.object({
      type,
      MultiResult: z.object({
        mode: z.enum(["poll", "wait_all", "wait_any"]),
        results: z.array(viewSchema),
        summary: z.string(),
      }),
    }),
    z.object({ type, TaskNotFound: z.string() }),
  ]),
  fields: [
    { name: "task_id", description: "Id of the task.", type: "string" },
    { name: "command", description: "What it runs.", type: "string" },
    {
      name: "status",
      description: "running, completed, failed, cancelled, timed_out or not_found.",
      type: "string",
    },
    { name: "exit_code", description: "Exit code, or null.", type: "number" },
    { name: "started", description: "Start, RFC 3339.", type: "string" },
    { name: "ended", description: "End, RFC 3339, or null.", type: "string" },
    { name: "duration_secs", description: "Run time in seconds.", type: "number" },
    { name: "output", description: "Its output, cut when long.", type: "string", potentiallyLarge: true },
    { name: "output_file", description: "Log with the whole output.", type: "string" },
    { name: "truncated", description: "True when the output was cut.", type: "boolean" },
    { name: "truncation_hint", description: "How to get all of it, or null.", type: "string" },
    { name: "raw_output_bytes", description: "Bytes it wrote in all.", type: "number" },
    { name: "mode", description: "Several tasks: how they were waited for.", type: "string" },
    { name: "results", description: "Several tasks: one row each.", type: "array", potentiallyLarge: true },
    { name: "summary", description: "Several tasks: how many have ended.", type: "string" },
  ],
};
