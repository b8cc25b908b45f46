import { type Client, Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import {
  builtInTools,
  createGrokToolsRuntime,
  createToolRegistry,
  type GrokToolsRuntime,
} from "@trivium/grok-tools-runtime";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { QuestionKind, QuestionService } from "@trivium/proto/tools-questions";
import { errorInterceptor } from "@trivium/rpc";
import { describe, expect, it } from "vitest";
import { grokToolsService } from "./grok-tools-service.ts";
import { questionService } from "./question-service.ts";
import { headers } from "./testing/sample-service.ts";

const notUsed = (): never => {
  throw new Error("no tool of this test runs programs");
};

interface TestService extends AsyncDisposable {
  readonly tools: Client<typeof GrokToolsService>;
  readonly questions: Client<typeof QuestionService>;
  readonly runtime: GrokToolsRuntime;
  readonly clock: ManualClock;
}

async function service(): Promise<TestService> {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const runtime = createGrokToolsRuntime({
    registry: createToolRegistry(builtInTools),
    workspace: folder.path,
    dataDir: `${folder.path}/data`,
    commandRunner: { start: notUsed, containment: notUsed, stats: notUsed, [Symbol.asyncDispose]: notUsed },
    programRunner: { run: notUsed },
    settings: { answersQuestions: true },
    clock,
  });
  const transport = createRouterTransport(
    (router) => {
      grokToolsService({ runtime })(router);
      questionService({ runtime })(router);
    },
    { router: { interceptors: [errorInterceptor] } },
  );
  return {
    tools: createClient(GrokToolsService, transport),
    questions: createClient(QuestionService, transport),
    runtime,
    clock,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const config = { tools: [{ id: "GrokBuild:ask_user_question" }] };
const content = [{ question: "Which?", options: [{ label: "A", description: "a" }] }];
const ask = {
  toolName: "ask_user_question",
  callId: "c1",
  inputJson: JSON.stringify({ questions: content }),
};

describe("QuestionService", () => {
  it("lists the questions that wait and hands the answer to the call, once", async () => {
    await using test = await service();
    await test.tools.finalizeToolConfigRequest(config);
    const running = test.tools.executeTool(ask);
    await expect
      .poll(async () => (await test.questions.listQuestions({})).questions)
      .toMatchObject([
        {
          callId: "c1",
          toolId: "GrokBuild:ask_user_question",
          kind: QuestionKind.QUESTIONS,
          contentJson: JSON.stringify(content),
          askedAt: { seconds: BigInt(test.clock.now() / 1000) },
          expiresAt: { seconds: BigInt(test.clock.now() / 1000 + 1_800) },
        },
      ]);
    const answer = { callId: "c1", outcomeJson: '{"outcome":"accepted","answers":{"Which?":"A"}}' };
    await test.questions.answerQuestion(answer);
    await expect(test.questions.answerQuestion(answer)).rejects.toMatchObject({ code: Code.NotFound });
    const { result } = await running;
    expect(result).toMatchObject({
      case: "success",
      value: { promptText: expect.stringContaining('"Which?"="A"') },
    });
    expect((await test.questions.listQuestions({})).questions).toEqual([]);
  });

  it.each([
    { callId: "", outcomeJson: "{}", refused: { code: Code.InvalidArgument, text: "call_id is empty" } },
    {
      callId: "c1",
      outcomeJson: "{",
      refused: { code: Code.InvalidArgument, text: "outcome_json is not JSON" },
    },
    { callId: "c1", outcomeJson: "{}", refused: { code: Code.InvalidArgument, text: "outcome is missing" } },
    {
      callId: "c1",
      outcomeJson: '{"outcome":"accepted","answers":{"What?":"A"}}',
      refused: { code: Code.InvalidArgument, text: '"What?", which was not asked' },
    },
    {
      callId: "other",
      outcomeJson: '{"outcome":"cancelled"}',
      refused: { code: Code.NotFound, text: '"other"' },
    },
  ])(
    "refuses the answer $outcomeJson for $callId and leaves the question",
    async ({ refused, ...answer }) => {
      await using test = await service();
      await test.tools.finalizeToolConfigRequest(config);
      const running = test.tools.executeTool(ask);
      await expect.poll(async () => (await test.questions.listQuestions({})).questions).toHaveLength(1);
      await expect(test.questions.answerQuestion(answer)).rejects.toMatchObject({
        code: refused.code,
        rawMessage: expect.stringContaining(refused.text),
      });
      await test.questions.answerQuestion({ callId: "c1", outcomeJson: '{"outcome":"cancelled"}' });
      await running;
    },
  );

  it("keeps the questions of sessions apart", async () => {
    await using test = await service();
    const [one, two] = [headers({ "x-trivium-session": "one" }), headers({ "x-trivium-session": "two" })];
    await test.tools.finalizeToolConfigRequest(config, one);
    await test.tools.finalizeToolConfigRequest(config, two);
    const running = test.tools.executeTool(ask, one);
    await expect.poll(async () => (await test.questions.listQuestions({}, one)).questions).toHaveLength(1);
    expect((await test.questions.listQuestions({}, two)).questions).toEqual([]);
    const answer = { callId: "c1", outcomeJson: '{"outcome":"cancelled"}' };
    await expect(test.questions.answerQuestion(answer, two)).rejects.toMatchObject({ code: Code.NotFound });
    await test.questions.answerQuestion(answer, one);
    await running;
  });

  it("no longer has the question of a call that was cancelled", async () => {
    await using test = await service();
    await test.tools.finalizeToolConfigRequest(config);
    const controller = new AbortController();
    const running = test.tools.executeTool(ask, { signal: controller.signal });
    await expect.poll(async () => (await test.questions.listQuestions({})).questions).toHaveLength(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: Code.Canceled });
    await expect.poll(async () => (await test.questions.listQuestions({})).questions).toEqual([]);
  });

  it("needs a finalized session", async () => {
    await using test = await service();
    await expect(test.questions.listQuestions({})).rejects.toMatchObject({ code: Code.FailedPrecondition });
    const answer = test.questions.answerQuestion({ callId: "c1", outcomeJson: "{}" });
    await expect(answer).rejects.toMatchObject({ code: Code.FailedPrecondition });
  });
});
