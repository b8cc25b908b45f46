import {
  Code,
  ConnectError,
  createRouterTransport,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import { QuestionKind, QuestionService } from "@trivium/proto/tools-questions";
import { describe, expect, it } from "vitest";
import { NotFinalizedError } from "./session-errors.ts";
import { ToolQuestions } from "./tool-questions.ts";

function server(methods: Partial<ServiceImpl<typeof QuestionService>>): Transport {
  return createRouterTransport(({ service }) => service(QuestionService, methods));
}

describe("ToolQuestions", () => {
  it("lists the questions of its session with plain numbers", async () => {
    const seen: (string | null)[] = [];
    const transport = server({
      listQuestions(_request, { requestHeader }) {
        seen.push(requestHeader.get("x-trivium-session"));
        return {
          questions: [
            {
              callId: "c1",
              toolId: "GrokBuild:ask_user_question",
              kind: QuestionKind.QUESTIONS,
              contentJson: '[{"question":"Which?","options":[]}]',
              askedAt: { seconds: 1n, nanos: 500_000_000 },
              expiresAt: { seconds: 2n },
            },
            { callId: "c2", kind: QuestionKind.PLAN_APPROVAL, contentJson: "{}" },
            { callId: "c3", kind: QuestionKind.UNSPECIFIED, contentJson: "null" },
          ],
        };
      },
    });
    expect(await new ToolQuestions(transport, { sessionId: "s" }).list()).toMatchObject([
      {
        callId: "c1",
        toolId: "GrokBuild:ask_user_question",
        kind: "questions",
        content: [{ question: "Which?", options: [] }],
        askedAtMs: 1_500,
        expiresAtMs: 2_000,
      },
      { callId: "c2", kind: "plan-approval", expiresAtMs: undefined },
      { callId: "c3", kind: "unknown" },
    ]);
    await new ToolQuestions(transport).list();
    expect(seen).toEqual(["s", null]);
  });

  it("sends an answer", async () => {
    let seen: unknown;
    const transport = server({
      answerQuestion({ callId, outcomeJson }, { requestHeader }) {
        seen = [requestHeader.get("x-trivium-session"), callId, JSON.parse(outcomeJson)];
        return {};
      },
    });
    const outcome = { outcome: "accepted", answers: { "Which?": ["A"] } } as const;
    await new ToolQuestions(transport, { sessionId: "s" }).answer("c1", outcome);
    expect(seen).toEqual(["s", "c1", outcome]);
  });

  it("throws errors that callers can tell apart", async () => {
    const refusing = (code: Code, message: string): ToolQuestions =>
      new ToolQuestions(
        server({
          listQuestions: () => {
            throw new ConnectError(message, code);
          },
          answerQuestion: () => {
            throw new ConnectError(message, code);
          },
        }),
      );
    const gone = refusing(Code.NotFound, "no question").answer("c", { outcome: "approved" });
    await expect(gone).rejects.toMatchObject({ kind: "notFound" });
    const early: unknown = await refusing(Code.FailedPrecondition, "call FinalizeToolConfigRequest first")
      .list()
      .catch((thrown: unknown) => thrown);
    expect(NotFinalizedError.isInstance(early)).toBe(true);
  });

  it("ends with its signal", async () => {
    const transport = server({ listQuestions: () => new Promise(() => {}) });
    const controller = new AbortController();
    const listing = new ToolQuestions(transport).list({ signal: controller.signal });
    controller.abort();
    await expect(listing).rejects.toMatchObject({ kind: "cancelled" });
  });
});
