import { ToolCategory } from "@trivium/proto/grok-tools";
import { z } from "zod";
import type { JsonObject } from "../../../json.ts";
import { describeInterval } from "../../../scheduler/interval.ts";
import { nextFireMs, type ScheduledTask, toTime } from "../../../scheduler/scheduled-task.ts";
import { scheduler } from "../../../scheduler/scheduler.ts";
import { requireSchedulerCreate } from "../../../scheduler/scheduler-requirement.ts";
import { defineTool, type Tool } from "../../../tool.ts";

/** Bytes of a prompt that the list shows. */
const SHOWN_PROMPT_BYTES = 80;

/** GrokBuild:scheduler_list: the scheduled tasks of the session. */
export const schedulerList: Tool = defineTool({
  id: "GrokBuild:scheduler_list",
  kind: "other",
  category: ToolCategory.WORKFLOW,
  capabilities: { readOnly: false, scope: "read" },
  description: "Lists the scheduled tasks of this session with the time of their next run.",
  input: z.object({}),
  output: {
    schema: z.object({
      type: z.literal("SchedulerList"),
      tasks: z.array(
        z.object({
          id: z.string(),
          prompt: z.string(),
          intervalHuman: z.string(),
          nextFireAt: z.string(),
          createdAt: z.string(),
          recurring: z.boolean(),
        }),
      ),
    }),
    fields: [{ name: "tasks", description: "In the order they were made.", type: "array" }],
  },
  resources: [scheduler],
  requires: requireSchedulerCreate,
  run(_input, context) {
    const tasks = context.resource(scheduler).list().map(toRow);
    const promptText = tasks.length === 0 ? "There are no scheduled tasks." : JSON.stringify(tasks, null, 2);
    return Promise.resolve({ output: { type: "SchedulerList", tasks }, promptText });
  },
});

function toRow(task: ScheduledTask): JsonObject {
  return {
    id: task.id,
    prompt: beginningOf(task.prompt),
    intervalHuman: describeInterval(task.intervalSecs),
    nextFireAt: toTime(nextFireMs(task)),
    createdAt: toTime(task.createdAtMs),
    recurring: true,
  };
}

/** As many whole characters as fit. */
function beginningOf(prompt: string): string {
  const { read } = new TextEncoder().encodeInto(prompt, new Uint8Array(SHOWN_PROMPT_BYTES));
  return read < prompt.length ? `${prompt.slice(0, read)}...` : prompt;
}
