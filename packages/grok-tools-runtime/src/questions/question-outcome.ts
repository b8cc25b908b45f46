import { TriviumError } from "@trivium/core";
import { z } from "zod";
import type { JsonValue } from "../json.ts";
import { shorten } from "../shorten.ts";
import { parseOutcome } from "./parse-outcome.ts";

/** What became of a set of questions. The maps have the question texts as keys and keep the order of the answer. */
export type QuestionOutcome =
  | {
      readonly outcome: "accepted";
      readonly answers: Readonly<Record<string, readonly string[]>>;
      readonly annotations: Readonly<Record<string, Annotation>>;
    }
  | {
      readonly outcome: "chat_about_this" | "skip_interview";
      readonly partial_answers: Readonly<Record<string, string>>;
    }
  | { readonly outcome: "cancelled" };

/** What a person added to an answer. */
export interface Annotation {
  readonly preview?: string | undefined;
  readonly notes?: string | undefined;
}

/** Characters of each text of an answer. */
const MAX_TEXT_LENGTH = 20_000;

const text = z.string().max(MAX_TEXT_LENGTH, `at most ${MAX_TEXT_LENGTH} characters`);
const labels = z
  .union([text, z.array(text).max(100, "at most 100 labels")], "a label or a list of labels is expected")
  .transform((given) => (typeof given === "string" ? [given] : given));

const schema: z.ZodType<QuestionOutcome> = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("accepted"),
    answers: z.record(z.string(), labels),
    annotations: z
      .record(z.string(), z.object({ preview: text.optional(), notes: text.optional() }))
      .default({}),
  }),
  z.object({
    outcome: z.enum(["chat_about_this", "skip_interview"]),
    partial_answers: z.record(z.string(), text).default({}),
  }),
  z.object({ outcome: z.literal("cancelled") }),
]);

const outcomes = ["accepted", "chat_about_this", "skip_interview", "cancelled"];

/**
 * Reads the answer to a set of questions.
 *
 * @throws {@link TriviumError} `invalidInput` that names what is wrong, also for an answer to another question.
 */
export function parseQuestionOutcome(value: JsonValue, questions: readonly string[]): QuestionOutcome {
  const outcome = parseOutcome(schema, outcomes, value);
  if (outcome.outcome === "accepted") {
    assertAsked("answers", outcome.answers, questions);
    assertAsked("annotations", outcome.annotations, questions);
  } else if (outcome.outcome !== "cancelled") {
    assertAsked("partial_answers", outcome.partial_answers, questions);
  }
  return outcome;
}

function assertAsked(key: string, answers: object, questions: readonly string[]): void {
  const unknown = Object.keys(answers).find((question) => !questions.includes(question));
  if (unknown === undefined) return;
  const asked = shorten(questions.map((question) => JSON.stringify(shorten(question, 80))).join(", "), 800);
  throw new TriviumError(
    "invalidInput",
    `outcome_json.${key} answers ${JSON.stringify(shorten(unknown))}, which was not asked; asked: ${asked}`,
  );
}
