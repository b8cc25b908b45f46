import { z } from "zod";
import { outcomeText, silenceText } from "../../../questions/answer-text.ts";
import { answersPush } from "../../../questions/answers-push.ts";
import { askElsewhere } from "../../../questions/ask-elsewhere.ts";
import { pendingQuestions } from "../../../questions/pending-questions.ts";
import { parseQuestionOutcome, type QuestionOutcome } from "../../../questions/question-outcome.ts";
import { questionTimeoutMs } from "../../../questions/question-timeout.ts";
import { shorten } from "../../../shorten.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import {
  type AskedQuestion,
  type AskUserQuestionParams,
  askUserQuestionInput,
  askUserQuestionParams,
} from "./ask-user-question-input.ts";

const MAX_QUESTIONS = 8;
const MAX_OPTIONS = 12;
const MAX_TEXT_LENGTH = 4_000;

const type = z.literal("AskUserQuestion");
const id = "GrokBuild:ask_user_question";

type AskContext = ToolContext<AskUserQuestionParams>;

/** GrokBuild:ask_user_question: questions to the user, whose answer the call waits for. */
export const askUserQuestion: Tool = defineTool({
  id,
  kind: "ask_user",
  capabilities: {
    readOnly: true,
    cancellable: true,
    supportsTimeout: true,
    unlimitedCalls: true,
    custom: answersPush,
  },
  description: `Asks the user questions and waits for the answers.

- Ask only what you cannot find out yourself and what changes what you do. Ask everything in one call.
- Give choices with what they mean. The user can always answer in their own words.
- The answer may be that nobody is there, or that the user does not want to be asked: then go on without.`,
  input: askUserQuestionInput,
  params: askUserQuestionParams,
  output: {
    schema: z.union([
      z.object({ type, QuestionsSent: z.object({ message: z.string(), question_count: z.int() }) }),
      z.object({ type, UserAnswered: z.object({ message: z.string() }) }),
    ]),
    fields: [
      { name: "message", description: "The answers as text.", type: "string", potentiallyLarge: true },
      { name: "question_count", description: "Questions that were sent.", type: "number" },
    ],
  },
  resources: [pendingQuestions],
  run: ({ questions }, context) => ask(questions, context),
});

async function ask(questions: readonly AskedQuestion[], context: AskContext): Promise<ToolResult> {
  if (questions.length === 0) {
    const message = "There was no question to ask.";
    return {
      output: { type: "AskUserQuestion", QuestionsSent: { message, question_count: 0 } },
      promptText: message,
    };
  }
  assertAskable(questions, context);
  const { params, settings, callId, signal } = context;
  const texts = questions.map(({ question }) => question);
  if (params.non_interactive === true) return answered(silenceText("nobody"));
  // Choices are all that others can be asked about; an answer in own words goes into the session's own list.
  const { choiceAsker } = context;
  if (choiceAsker !== undefined && questions.every(({ options }) => options.length > 0)) {
    return answered(textOf(await askElsewhere(choiceAsker, questions, { callId, signal }), texts));
  }
  if (!settings.answersQuestions) return answered(silenceText("nobody"));
  const content = questions.map(toJson);
  const pending = context.resource(pendingQuestions).ask({
    callId,
    toolId: id,
    kind: "questions",
    content,
    timeoutMs: questionTimeoutMs(params, context.environment),
    signal,
    parse: (outcome) => parseQuestionOutcome(outcome, texts),
  });
  // It waits already: a host that answers at once is not too early.
  context.notify({ type: "UserQuestionAsked", tool_call_id: callId, questions_json: content });
  const outcome = await pending;
  return answered(textOf(outcome, texts));
}

function textOf(outcome: QuestionOutcome | undefined, questions: readonly string[]): string {
  return outcome === undefined ? silenceText("timed-out") : outcomeText(outcome, questions);
}

function answered(message: string): ToolResult {
  return { output: { type: "AskUserQuestion", UserAnswered: { message } }, promptText: message };
}

function assertAskable(questions: readonly AskedQuestion[], { parameterName }: AskContext): void {
  const field = parameterName("questions");
  const seen = new Set<string>();
  for (const [index, { question, options }] of questions.entries()) {
    const place = `${field}[${index}]`;
    if (seen.has(question)) {
      throw ToolError.invalidField(
        `${place}.question`,
        `the question ${JSON.stringify(shorten(question))} is asked twice`,
      );
    }
    seen.add(question);
    if (options.length > MAX_OPTIONS) {
      throw ToolError.invalidField(
        `${place}.options`,
        `${place} has ${options.length} options; it can have ${MAX_OPTIONS}`,
      );
    }
    assertLength(`${place}.question`, question);
    for (const [at, option] of options.entries()) {
      for (const key of ["label", "description", "preview"] as const) {
        assertLength(`${place}.options[${at}].${key}`, option[key] ?? "");
      }
    }
  }
  if (questions.length <= MAX_QUESTIONS) return;
  throw ToolError.invalidField(
    field,
    `${field} has ${questions.length} entries; it can have ${MAX_QUESTIONS}`,
  );
}

function assertLength(place: string, text: string): void {
  if (text.length <= MAX_TEXT_LENGTH) return;
  throw ToolError.invalidField(
    place,
    `${place} has ${text.length} characters; it can have ${MAX_TEXT_LENGTH}`,
  );
}

type QuestionJson = {
  readonly question: string;
  readonly options: readonly { readonly [key: string]: string }[];
  readonly multi_select?: boolean;
};

/** For hosts: keys that were not given are absent. */
function toJson({ question, options, multi_select: isMultiple }: AskedQuestion): QuestionJson {
  return {
    question,
    options: options.map(({ label, description, preview }) => ({
      label,
      description,
      ...(preview !== undefined && { preview }),
    })),
    ...(isMultiple !== undefined && { multi_select: isMultiple }),
  };
}
