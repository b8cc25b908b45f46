import { z } from "zod";
import { absentable, lenientBoolean, lenientInteger } from "../../../input/lenient.ts";
import { isTooDeep, type JsonValue } from "../../../json.ts";

export interface WorkflowInput {
  readonly name: string | undefined;
  readonly script: string | undefined;
  readonly script_path: string | undefined;
  readonly resume_from_run_id: string | undefined;
  readonly args: JsonValue;
  readonly agent_budget: number;
  readonly validate_only: boolean;
}

/** Blank counts as absent. */
const text = (description: string): z.ZodType<string | undefined> =>
  absentable(z.string().transform((given) => (given.trim() === "" ? undefined : given))).describe(
    description,
  );

const args = z.custom<JsonValue>((value) => !isTooDeep(value), "it is nested too deeply");

export const workflowInput: z.ZodType<WorkflowInput> = z.object({
  name: text("Name of a script in `.grok/workflows`."),
  script: text("The script itself."),
  script_path: text("File with the script."),
  resume_from_run_id: text("Id of an earlier run to go on with. Give nothing else then."),
  args: args.default(null).describe("Any value; the script sees it as `args`."),
  agent_budget: lenientInteger({ min: 1, max: 1024 })
    .default(128)
    .describe("Agents the run may start, 1 to 1024."),
  validate_only: lenientBoolean().default(false).describe("Check the script and run nothing."),
});
