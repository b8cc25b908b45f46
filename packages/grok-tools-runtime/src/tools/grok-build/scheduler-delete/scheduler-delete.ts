import { ToolCategory } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { scheduler } from "../../../scheduler/scheduler.ts";
import { requireSchedulerCreate } from "../../../scheduler/scheduler-requirement.ts";
import { defineTool, type Tool } from "../../../tool.ts";

const input: z.ZodType<{ readonly id: string }> = z.object({
  id: z.string().describe("Id of the task to remove."),
});

/** GrokBuild:scheduler_delete: removes a scheduled task. */
export const schedulerDelete: Tool = defineTool({
  id: "GrokBuild:scheduler_delete",
  kind: "other",
  category: ToolCategory.WORKFLOW,
  capabilities: { readOnly: false },
  description: "Removes a scheduled task. A run of it that has begun goes on.",
  input,
  output: {
    schema: z.object({ type: z.literal("SchedulerDelete"), success: z.boolean(), message: z.string() }),
    fields: [
      { name: "success", description: "Whether there was such a task.", type: "boolean" },
      { name: "message", description: "What was done.", type: "string" },
    ],
  },
  resources: [scheduler],
  requires: requireSchedulerCreate,
  run({ id }, context) {
    const taskId = id.trim();
    const success = context.resource(scheduler).delete(taskId);
    const message = success
      ? `the scheduled task ${taskId} was removed`
      : `there is no scheduled task ${taskId}`;
    return Promise.resolve({
      output: { type: "SchedulerDelete", success, message },
      promptText: message,
    });
  },
});
