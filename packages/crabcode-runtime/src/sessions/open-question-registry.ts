import { QuestionRegistry, questionKey } from "../gates/question-registry.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";

/** Settled questions that the index of sessions remembers. */
const REMEMBERED_QUESTIONS = 1024;

/** The questions of one session; what is settled survives the process. */
export function openQuestionRegistry(
  { store, clock }: Pick<SessionEnvironment, "store" | "clock">,
  { sessionId, bus }: Pick<SessionParts, "sessionId" | "bus">,
): QuestionRegistry {
  return new QuestionRegistry({
    bus,
    clock,
    settledKeys: store.settledQuestions(sessionId, REMEMBERED_QUESTIONS),
    journal: {
      settled: (agentId, toolUseId) =>
        store.addSettledQuestion(sessionId, {
          key: questionKey(agentId, toolUseId),
          keep: REMEMBERED_QUESTIONS,
        }),
    },
  });
}
