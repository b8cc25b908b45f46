import { z } from "zod";
import { absentable, lenientBoolean } from "../../../input/lenient.ts";
import { isJsonObject } from "../../../json.ts";
import type { ParamsDefinition } from "../../../tool-params.ts";

export interface AskedQuestion {
  readonly question: string;
  readonly options: readonly { label: string; description: string; preview?: string | undefined }[];
  readonly multi_select?: boolean | undefined;
}

export interface AskUserQuestionInput {
  readonly questions: readonly AskedQuestion[];
}

const option = z.object({
  label: z.string().describe("Short name of the choice."),
  description: z.string().describe("What choosing it means."),
  preview: absentable(z.string()).describe("A text that shows the choice, such as code or a sketch."),
});

const question = z.object({
  question: z.string().describe("The question, in full. Each only once."),
  options: z.array(option).describe("Choices, at most 12. None: the user answers in their own words."),
  multi_select: absentable(lenientBoolean()).describe("Several choices may be taken."),
});

/** Models also write `multiSelect`. */
function withSnakeCase(value: unknown): unknown {
  if (!isJsonObject(value) || !Object.hasOwn(value, "multiSelect")) return value;
  const { multiSelect, ...rest } = value;
  return { multi_select: multiSelect, ...rest };
}

export const askUserQuestionInput: z.ZodType<AskUserQuestionInput> = z.object({
  questions: z.array(z.preprocess(withSnakeCase, question)).describe("What to ask, 1 to 8 questions."),
});

export interface AskUserQuestionParams {
  readonly timeout_enabled: boolean | null;
  readonly timeout_secs: number | null;
  readonly non_interactive: boolean | null;
}

export const askUserQuestionParams: ParamsDefinition<AskUserQuestionParams> = {
  stateKey: "grok_build.AskUserQuestion",
  strict: false,
  schema: z.object({
    timeout_enabled: z.boolean().nullable().default(null).describe("False: wait for an answer for ever."),
    timeout_secs: z
      .number()
      .nullable()
      .default(null)
      .describe("Seconds to wait for all answers. Absent: 1800."),
    non_interactive: z.boolean().nullable().default(null).describe("Nobody is there: never ask."),
  }),
};
