import type { ChoiceAsker } from "./choice-asker.ts";
import type { QuestionOutcome } from "./question-outcome.ts";

/** A question with what can be chosen, and what each choice means. */
export interface OptionQuestion {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly multi_select?: boolean | undefined;
}

/**
 * Puts the questions of a call to an asker, one after the other. What was answered before one was given up or ran out
 * of time is kept. Undefined: nobody answered in time.
 *
 * @throws the reason of the call's signal when it aborts
 */
export async function askElsewhere(
  asker: ChoiceAsker,
  questions: readonly OptionQuestion[],
  call: { readonly callId: string; readonly signal: AbortSignal },
): Promise<QuestionOutcome | undefined> {
  const answers = new Map<string, readonly string[]>();
  for (const [index, asked] of questions.entries()) {
    const reply = await asker.choose({
      ...call,
      number: index + 1,
      question: withMeanings(asked),
      options: [...new Set(asked.options.map(({ label }) => label))],
      isMultiple: asked.multi_select === true,
    });
    if (reply.type === "chosen") answers.set(asked.question, reply.labels);
    else if (reply.type === "cancelled") return givenUp(answers);
    else return answers.size === 0 ? undefined : accepted(answers);
  }
  return accepted(answers);
}

function accepted(answers: ReadonlyMap<string, readonly string[]>): QuestionOutcome {
  return { outcome: "accepted", answers: Object.fromEntries(answers), annotations: {} };
}

function givenUp(answers: ReadonlyMap<string, readonly string[]>): QuestionOutcome {
  if (answers.size === 0) return { outcome: "cancelled" };
  const partial = [...answers].map(([question, labels]) => [question, labels.join(", ")] as const);
  return { outcome: "skip_interview", partial_answers: Object.fromEntries(partial) };
}

/** People who are offered bare labels read here what they mean. */
function withMeanings({ question, options }: OptionQuestion): string {
  const meanings = options
    .filter(({ description }) => description.trim() !== "")
    .map(({ label, description }) => `- ${label}: ${description}`);
  return [question, ...meanings].join("\n");
}
