import { z } from "zod";
import { absentable, lenientBoolean } from "../../../input/lenient.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";

/** Canonical input of the tool. */
export interface TaskInput {
  readonly prompt: string;
  readonly description: string;
  readonly subagent_type: string | undefined;
  readonly run_in_background: boolean;
  readonly isolation: "none" | "worktree" | undefined;
  readonly resume_from: string | undefined;
  readonly cwd: string | undefined;
  readonly model: string | undefined;
  /** Id for the child; not advertised. */
  readonly task_id: string | undefined;
}

/** Models write words for "nothing" where they should leave a parameter out. */
const NOTHING = /^(null|none|undefined)?$/i;

function optionalText(): z.ZodType<string | undefined> {
  return absentable(z.string()).transform((text) => {
    const trimmed = text?.trim() ?? "";
    return NOTHING.test(trimmed) ? undefined : trimmed;
  });
}

export const taskInput: z.ZodType<TaskInput> = z.object({
  prompt: z.string().describe("The whole task: what to do, what is known, what to answer with."),
  description: z.string().describe("Title of the task, 3 to 5 words."),
  subagent_type: optionalText().meta({
    description: "Kind of subagent, one of the types above.",
    default: "general-purpose",
  }),
  run_in_background: lenientBoolean()
    .default(true)
    .describe("Return at once and let the subagent work on. With false the call waits for its result."),
  isolation: absentable(z.preprocess(toIsolation, z.enum(["none", "worktree"]))).describe(
    "worktree: the subagent works in a git worktree of its own, which stays when it has ended.",
  ),
  resume_from: optionalText().describe(
    "Id of an ended subagent of the same type, to go on with its conversation.",
  ),
  cwd: optionalText().describe("Existing folder to work in. Default: that of the session."),
  model: optionalText().describe("Model to use instead of the usual one, where the host has it."),
  task_id: optionalText(),
});

/** `Worktree`, `work_tree` and `work-tree` are read as `worktree`. */
function toIsolation(value: unknown): unknown {
  return typeof value === "string" ? value.trim().toLowerCase().replaceAll(/[-_]/g, "") : value;
}

/** The id is accepted but not advertised. */
export function withoutTaskId(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const { task_id: _id, ...advertised } = properties;
  return { ...schema, properties: advertised };
}

/** A folder as a model wrote it: without quotes, `~` expanded. */
export function cleanFolder(text: string, homeDirectory: string | undefined): string {
  const bare = text.replace(/^["'`]+|["'`]+$/g, "").trim();
  if (homeDirectory === undefined || !/^~(\/|$)/.test(bare)) return bare;
  return homeDirectory + bare.slice(1);
}
