import type { QuestionOutcome } from "./question-outcome.ts";

/** Why there is no answer. */
export type Silence = "declined" | "timed-out" | "nobody";

/** What the model reads when nobody answered. */
export function silenceText(silence: Silence): string {
  switch (silence) {
    case "nobody":
      return "There is no user available to answer. Decide yourself, choose what is safest to change later, and say what you assumed.";
    case "timed-out":
      return "The user declined to answer: no answer came in time. Go on with your best judgement and say what you assumed.";
    case "declined":
      return "The user declined to answer these questions. Go on without the answers, or ask in another way if you cannot.";
  }
}

/** What the model reads of an answer. */
export function outcomeText(outcome: QuestionOutcome, questions: readonly string[]): string {
  switch (outcome.outcome) {
    case "accepted":
      return acceptedText(outcome);
    case "chat_about_this":
      return [
        "The user wants to talk about these questions before answering them:",
        ...partialLines(questions, outcome.partial_answers),
        "Answer what the user says next, then ask again what is still open.",
      ].join("\n");
    case "skip_interview":
      return [
        "The user does not want to be asked any further:",
        ...partialLines(questions, outcome.partial_answers),
        "Stop asking questions. Go on with what you know and say what you assumed.",
      ].join("\n");
    case "cancelled":
      return silenceText("declined");
  }
}

function acceptedText({ answers, annotations }: Extract<QuestionOutcome, { outcome: "accepted" }>): string {
  const lines = Object.entries(answers).map(([question, labels]) => {
    const { preview, notes } = annotations[question] ?? {};
    return [
      `"${question}"="${labels.join(", ")}"`,
      ...(preview === undefined ? [] : [`Selected preview:\n${preview}`]),
      ...(notes === undefined ? [] : [`Notes: ${notes}`]),
    ].join("\n");
  });
  if (lines.length === 0) return "The user has sent the questions back without answering any.";
  return ["The user has answered:", ...lines].join("\n");
}

function partialLines(questions: readonly string[], answers: Readonly<Record<string, string>>): string[] {
  return questions.flatMap((question) => {
    const answer = Object.hasOwn(answers, question) ? answers[question] : undefined;
    return [`- ${question}`, `  Answer: ${answer ?? "(No answer provided)"}`];
  });
}
