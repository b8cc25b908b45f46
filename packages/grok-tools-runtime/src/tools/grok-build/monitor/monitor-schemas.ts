import { z } from "zod";
import { absentable, lenientBoolean, lenientInteger } from "../../../input/lenient.ts";
import type { ToolOutputDefinition } from "../../../tool.ts";

/** Longest deadline, in milliseconds, and the one that applies unless another is given. */
export const MAX_TIMEOUT_MS = 36_000_000;

export interface MonitorInput {
  readonly command: string;
  readonly description: string;
  readonly timeout_ms: number | undefined;
  readonly persistent: boolean;
}

export const monitorInput: z.ZodType<MonitorInput> = z.object({
  command: z.string().describe("The command line to run. Each line it prints becomes an event."),
  description: z.string().describe("What is watched, in a few words; the label of the events."),
  timeout_ms: absentable(lenientInteger({ min: 0 })).meta({
    description: `Milliseconds after which the command is ended, at most ${MAX_TIMEOUT_MS}. 0: never.`,
    default: MAX_TIMEOUT_MS,
  }),
  persistent: lenientBoolean()
    .default(false)
    .describe("Watch without a deadline, until it is ended or the session ends."),
});

/** The union value `Monitor`. */
export const monitorOutput: ToolOutputDefinition = {
  schema: z.object({
    type: z.literal("Monitor"),
    taskId: z.string(),
    timeoutMs: z.int(),
    persistent: z.boolean(),
  }),
  fields: [
    { name: "taskId", description: "Id of the background task.", type: "string" },
    { name: "timeoutMs", description: "Deadline in milliseconds; 0 when there is none.", type: "number" },
    {
      name: "persistent",
      description: "True when it was asked to watch without a deadline.",
      type: "boolean",
    },
  ],
};
