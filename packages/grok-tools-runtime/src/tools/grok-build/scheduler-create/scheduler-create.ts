import { ErrorCode, ToolCategory } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { absentable, lenientBoolean } from "../../../input/lenient.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { describeInterval, parseInterval } from "../../../scheduler/interval.ts";
import { isLasting, nextFireMs, type ScheduledTask, toTime } from "../../../scheduler/scheduled-task.ts";
import { MAX_TASKS, scheduler } from "../../../scheduler/scheduler.ts";
import { shorten } from "../../../shorten.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError, type ToolErrorOptions } from "../../../tool-error.ts";

interface SchedulerCreateInput {
  readonly task_id: string | undefined;
  readonly interval: string | undefined;
  readonly prompt: string | undefined;
  readonly durable: boolean;
  readonly foreground: boolean;
  readonly fire_immediately: boolean;
  readonly recurring: boolean;
}

const input: z.ZodType<SchedulerCreateInput> = z.object({
  task_id: absentable(z.string()).describe("Id of a task to change. Absent: a new task."),
  interval: absentable(z.string()).describe(
    "Time between runs: a number and s, m, h or d, such as 5m or 2h.",
  ),
  prompt: absentable(z.string()).describe("What to do in each run."),
  durable: lenientBoolean().default(false).describe("Keep the task when the server restarts."),
  foreground: lenientBoolean().default(false).describe("Let the host run the prompt instead of a subagent."),
  fire_immediately: lenientBoolean().default(false).describe("Run now for the first time."),
  recurring: lenientBoolean().default(true),
});

const MAX_PROMPT_LENGTH = 100_000;

/** GrokBuild:scheduler_create: a prompt that is run at an interval, or a change of one. */
export const schedulerCreate: Tool = defineTool({
  id: "GrokBuild:scheduler_create",
  kind: "other",
  category: ToolCategory.WORKFLOW,
  capabilities: { readOnly: false },
  description: `Runs a prompt again and again.

- The shortest interval is a minute; missed runs are not caught up. A task ends by itself after 7 days.
- Each run is done by a subagent in the background where there is one; a run is left out while the one before it goes on. With \`foreground\` the host is told to run the prompt instead.
- Give \`task_id\` with a new \`interval\` or \`prompt\` to change a task.
- For something that happens once start a background command instead.`,
  input,
  output: {
    schema: z.object({
      type: z.literal("SchedulerCreate"),
      id: z.string(),
      humanSchedule: z.string(),
      updated: z.boolean(),
    }),
    fields: [
      { name: "id", description: "Id of the task.", type: "string" },
      { name: "humanSchedule", description: "The interval in words.", type: "string" },
      { name: "updated", description: "Whether the task existed.", type: "boolean" },
    ],
  },
  resources: [scheduler],
  specialiseInput: withoutRecurring,
  run: (given, context) => Promise.resolve(createOrUpdate(given, context)),
});

function createOrUpdate(given: SchedulerCreateInput, context: ToolContext<undefined>): ToolResult {
  const { promptId, subagents } = context;
  if (promptId !== undefined && subagents.get(promptId) !== undefined) {
    // Its runs would start where those of the host do, however deep it is.
    throw new ToolError(ErrorCode.INVALID_INPUT, "a subagent cannot schedule anything", {
      details: { code: "scheduler_depth_exceeded" },
    });
  }
  const taskId = given.task_id?.trim() ?? "";
  return taskId === "" ? create(given, context) : update(taskId, given, context);
}

function create(given: SchedulerCreateInput, context: ToolContext<undefined>): ToolResult {
  const { parameterName } = context;
  for (const name of ["interval", "prompt"] as const) {
    if (given[name] === undefined) throw ToolError.missingField(parameterName(name));
  }
  if (!given.recurring) {
    const field = parameterName("recurring");
    throw ToolError.invalidField(field, `${field} is false, but scheduled tasks always recur`, {
      suggestion: "For something that happens once, start a background command that sleeps first.",
    });
  }
  const intervalSecs = toSeconds(given.interval ?? "", context);
  const prompt = toPrompt(given.prompt ?? "", context);
  const tasks = context.resource(scheduler);
  if (tasks.list().length >= MAX_TASKS) {
    throw invalidRequest(`there are ${MAX_TASKS} scheduled tasks, which is the limit`, {
      suggestion: "Delete a task that is no longer needed.",
    });
  }
  const { durable, foreground, fire_immediately: isDueAtOnce } = given;
  const { authorise } = context;
  return answer(tasks.create({ intervalSecs, prompt, durable, foreground, isDueAtOnce, authorise }), false);
}

function update(
  taskId: string,
  { interval, prompt }: SchedulerCreateInput,
  context: ToolContext<undefined>,
): ToolResult {
  const tasks = context.resource(scheduler);
  const task = tasks.get(taskId);
  if (task === undefined) {
    const known = tasks.list().map(({ id }) => id);
    throw invalidRequest(`no scheduled task has the id ${shorten(taskId)}`, {
      details: { field: context.parameterName("task_id") },
      suggestion: known.length === 0 ? "There are no scheduled tasks." : `There are: ${known.join(", ")}.`,
    });
  }
  if (interval === undefined && prompt === undefined) {
    const names = `${context.parameterName("interval")} or ${context.parameterName("prompt")}`;
    throw invalidRequest(`nothing to change: give ${names}`);
  }
  tasks.update(task, {
    intervalSecs: interval === undefined ? undefined : toSeconds(interval, context),
    prompt: prompt === undefined ? undefined : toPrompt(prompt, context),
    authorise: context.authorise,
  });
  return answer(task, true);
}

function toSeconds(interval: string, { parameterName }: ToolContext<undefined>): number {
  const seconds = parseInterval(interval);
  if (seconds !== undefined) return seconds;
  const field = parameterName("interval");
  const received = JSON.stringify(shorten(interval, 100));
  throw invalidRequest(`${field} is ${received}; it is a whole number above 0 and s, m, h or d, such as 5m`, {
    details: { field },
  });
}

function toPrompt(prompt: string, { parameterName }: ToolContext<undefined>): string {
  const field = parameterName("prompt");
  if (prompt.trim() === "") throw ToolError.invalidField(field, `${field} is blank; say what to do`);
  if (prompt.length <= MAX_PROMPT_LENGTH) return prompt;
  throw ToolError.invalidField(
    field,
    `${field} has ${prompt.length} characters; it can have ${MAX_PROMPT_LENGTH}`,
  );
}

function answer(task: ScheduledTask, updated: boolean): ToolResult {
  const { id, intervalSecs, expiresAtMs, durable } = task;
  const humanSchedule = describeInterval(intervalSecs);
  const nextMs = nextFireMs(task);
  const isInVain = expiresAtMs !== undefined && nextMs >= expiresAtMs;
  const promptText = isInVain
    ? `The scheduled task ${id} was ${updated ? "updated" : "created"} (${humanSchedule}), but it ends at ${toTime(expiresAtMs)}, before its next run.`
    : `The scheduled task ${id} was ${updated ? "updated" : "created"}: ${humanSchedule}, next at ${toTime(nextMs)}.`;
  const isCut = durable && !isLasting(task);
  const limit = isCut ? " It ends with the server, since what it may do is known only until then." : "";
  return { output: { type: "SchedulerCreate", id, humanSchedule, updated }, promptText: promptText + limit };
}

/** A refusal with the original's code in its details. */
function invalidRequest(message: string, { details, ...options }: ToolErrorOptions = {}): ToolError {
  return new ToolError(ErrorCode.INVALID_INPUT, message, {
    ...options,
    details: { code: "scheduler_invalid_request", ...details },
  });
}

/** Accepted, since false needs an answer of its own, but not advertised. */
function withoutRecurring(schema: JsonObject): JsonObject {
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return schema;
  const { recurring: _hidden, ...advertised } = properties;
  return { ...schema, properties: advertised };
}
