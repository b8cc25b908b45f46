import { z } from "zod";
import { absentable, lenientBoolean, lenientInteger } from "../input/lenient.ts";
import type { JsonObject } from "../json.ts";
import { isJsonObject } from "../json.ts";
import type { ToolOutputDefinition } from "../tool.ts";
import { foregroundLimits } from "./effective-timeout.ts";
import type { ShellParams } from "./shell-params.ts";

/** Input of the shell tools. */
export interface ShellInput {
  readonly command: string;
  readonly description: string | undefined;
  readonly timeout: number | undefined;
  readonly is_background: boolean;
}

export const shellInput: z.ZodType<ShellInput> = z.object({
  command: z.string().describe("The command line to run."),
  description: absentable(z.string()).describe("Why the command is run, in one sentence."),
  timeout: absentable(lenientInteger({ min: 0 })).meta({
    description: "Time-out in milliseconds.",
    default: 120_000,
  }),
  is_background: lenientBoolean()
    .default(false)
    .describe("Run in the background: the call returns at once with a task id."),
});

/** Adapts the advertised schema to the configuration. */
export function specialiseShellInput(schema: JsonObject, params: ShellParams): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const { timeout, is_background: isBackground, ...rest } = properties;
  const { defaultMs, ceilingMs } = foregroundLimits(params);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return {
    ...schema,
    properties: {
      ...rest,
      timeout: {
        ...(isJsonObject(timeout) ? timeout : {}),
        description: `Time-out in milliseconds. Default ${defaultMs}, at most ${ceilingMs}.`,
        ...(params.max_timeout_secs !== null && { maximum: ceilingMs }),
      },
      ...(params.enabled_background && isBackground !== undefined && { is_background: isBackground }),
    },
    // Not demanded of a call, but models should give it.
    required: required.includes("description") ? required : [...required, "description"],
  };
}

const bytes = z.array(z.int().min(0).max(255));

/** The union values `Bash` and `BackgroundTaskStarted`. */
export const shellOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({
      type: z.literal("Bash"),
      output: bytes,
      output_for_prompt: z.string(),
      exit_code: z.int(),
      command: z.string(),
      truncated: z.boolean(),
      signal: z.string().nullable(),
      timed_out: z.boolean(),
      description: z.string().nullable(),
      current_dir: z.string(),
      output_file: z.string(),
      total_bytes: z.int(),
      was_bare_echo: z.literal(true).optional(),
      survivors: z.array(z.int()).optional(),
    }),
    z.object({
      type: z.literal("BackgroundTaskStarted"),
      task_id: z.string(),
      task_type: z.literal("bash"),
      output_file: z.string(),
      status: z.literal("running"),
      command: z.string(),
      summary: z.string(),
      retrieval_hint: z.string(),
      pid: z.int().optional(),
    }),
  ]),
  fields: [
    {
      name: "output",
      description: "The kept bytes.",
      type: "array",
      potentiallyLarge: true,
      defaultOnly: true,
    },
    {
      name: "output_for_prompt",
      description: "What the model reads.",
      type: "string",
      potentiallyLarge: true,
    },
    { name: "exit_code", description: "Exit code; -1 when there is none.", type: "number" },
    { name: "command", description: "The command as sent.", type: "string" },
    { name: "truncated", description: "True when the middle of the output was left out.", type: "boolean" },
    { name: "signal", description: "Why it ended other than by itself, or null.", type: "string" },
    { name: "timed_out", description: "True when its time-out ended it.", type: "boolean" },
    { name: "description", description: "The reason given, or null.", type: "string" },
    { name: "current_dir", description: "The folder it ran in.", type: "string" },
    { name: "output_file", description: "Log with the whole output.", type: "string" },
    { name: "total_bytes", description: "Bytes it wrote in all.", type: "number" },
    { name: "was_bare_echo", description: "True for an echo of literal text.", type: "boolean" },
    { name: "survivors", description: "Processes that could not be ended.", type: "array" },
    { name: "task_id", description: "Id of the background task.", type: "string" },
    { name: "task_type", description: "Kind of the background task.", type: "string" },
    { name: "status", description: "Status of the background task.", type: "string" },
    { name: "summary", description: "What was started and why in the background.", type: "string" },
    { name: "retrieval_hint", description: "How to get the output.", type: "string" },
    { name: "pid", description: "Process id of the shell.", type: "number" },
  ],
};
