import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import type { ToolSession } from "@trivium/grok-tools-runtime";
import {
  type AnswerQuestionRequest,
  type PendingQuestion,
  PendingQuestionSchema,
  QuestionKind,
  QuestionService,
} from "@trivium/proto/tools-questions";
import { parseJsonField } from "@trivium/rpc";
import { type GrokToolsServiceDeps, type RequestHeaders, sessionOf } from "./request-metadata.ts";

/** Adds trivium.tools.v1.QuestionService to a router. */
export function questionService(deps: GrokToolsServiceDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(QuestionService, {
      listQuestions: (_request, context) => ({
        questions: sessionOf(deps, context).questions.list().map(toWireQuestion),
      }),
      answerQuestion: (request, context) => answerQuestion(deps, request, context),
    });
  };
}

type Question = ReturnType<ToolSession["questions"]["list"]>[number];

const kinds = {
  questions: QuestionKind.QUESTIONS,
  "plan-approval": QuestionKind.PLAN_APPROVAL,
} satisfies Record<Question["kind"], QuestionKind>;

/** AnswerQuestion: hands an outcome to the call that waits for it. */
function answerQuestion(
  deps: GrokToolsServiceDeps,
  { callId, outcomeJson }: AnswerQuestionRequest,
  context: RequestHeaders,
): Record<string, never> {
  if (callId === "") throw new TriviumError("invalidInput", "call_id is empty; name the call that asks");
  sessionOf(deps, context).questions.answer(callId, parseJsonField("outcome_json", outcomeJson));
  return {};
}

function toWireQuestion({
  callId,
  toolId,
  kind,
  content,
  askedAtMs,
  expiresAtMs,
}: Question): PendingQuestion {
  return create(PendingQuestionSchema, {
    callId,
    toolId,
    kind: kinds[kind],
    contentJson: JSON.stringify(content),
    askedAt: timestampFromMs(askedAtMs),
    ...(expiresAtMs !== undefined && { expiresAt: timestampFromMs(expiresAtMs) }),
  });
}
