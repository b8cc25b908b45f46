import { ManualClock } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../json.ts";
import type { ToolNotification } from "../../../notifications/tool-notification.ts";
import { pendingQuestions } from "../../../questions/pending-questions.ts";
import { testRuntime } from "../../../testing/test-runtime.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { askUserQuestion } from "./ask-user-question.ts";
import { askUserQuestionParams } from "./ask-user-question-input.ts";

const settings = { ...defaultToolSettings, answersQuestions: true };
const [colour, size] = ["Which colour?", "Which size?"];
const questions = [
  {
    id: "q1",
    question: colour,
    multiSelect: "yes",
    options: [
      { id: "o1", label: "Red", description: "like fire", preview: "#f00" },
      { label: "Blue", description: "like water" },
    ],
  },
  { question: size, options: [] },
];

type Overrides = Partial<ToolContext> & { readonly given?: JsonObject };

function context({ given = {}, ...overrides }: Overrides = {}): ToolContext {
  return toolContext({ settings, params: askUserQuestionParams.schema.parse(given), ...overrides });
}

async function textOf(outcome: JsonValue): Promise<string> {
  const asked = context();
  const running = askUserQuestion.run({ questions }, asked);
  asked.resource(pendingQuestions).answer("call-1", outcome);
  const { output, promptText } = await running;
  expect(output).toEqual({ type: "AskUserQuestion", UserAnswered: { message: promptText } });
  return promptText;
}

describe("GrokBuild:ask_user_question", () => {
  it("tells the host, waits in the list, and gives the answer to the model", async () => {
    const told: ToolNotification[] = [];
    const asked = context({ notify: (notification) => told.push(notification) });
    const running = askUserQuestion.run({ questions }, asked);
    const pending = asked.resource(pendingQuestions);
    const content = [
      {
        question: colour,
        multi_select: true,
        options: [
          { label: "Red", description: "like fire", preview: "#f00" },
          { label: "Blue", description: "like water" },
        ],
      },
      { question: size, options: [] },
    ];
    expect(told).toEqual([{ type: "UserQuestionAsked", tool_call_id: "call-1", questions_json: content }]);
    const nowMs = asked.clock.now();
    expect(pending.list()).toEqual([
      {
        callId: "call-1",
        toolId: "GrokBuild:ask_user_question",
        kind: "questions",
        content,
        askedAtMs: nowMs,
        expiresAtMs: nowMs + 1_800_000,
      },
    ]);
    pending.answer("call-1", {
      outcome: "accepted",
      answers: { [size]: "Other", [colour]: ["Red", "Blue"] },
      annotations: { [size]: { notes: "very large" }, [colour]: { preview: "#f00" } },
    });
    const { promptText } = await running;
    expect(promptText).toContain(`"${size}"="Other"\nNotes: very large\n"${colour}"="Red, Blue"`);
    expect(promptText).toContain("#f00");
    expect(pending.list()).toEqual([]);
  });

  it("shows what is still open when the user wants to talk first", async () => {
    const text = await textOf({ outcome: "chat_about_this", partial_answers: { [colour]: "Red" } });
    expect(text).toContain(`- ${colour}\n  Answer: Red`);
    expect(text).toContain(`- ${size}\n  Answer: (No answer provided)`);
  });

  it("tells the model to stop asking when the user does not want to be asked", async () => {
    const text = await textOf({ outcome: "skip_interview" });
    expect(text).toContain(colour);
    expect(text).toContain("Stop asking questions");
  });

  it("says that the user declined", async () => {
    expect(await textOf({ outcome: "cancelled" })).toContain("declined");
  });

  it.each([
    [{ timeout_secs: 1 }, {}, 1_000],
    [{ timeout_secs: 0 }, {}, 1_800_000],
    [{}, { GROK_ASK_USER_QUESTION_TIMEOUT_SECS: "2" }, 2_000],
    [{}, { GROK_ASK_USER_QUESTION_TIMEOUT_SECS: "soon" }, 1_800_000],
  ])("goes on without an answer after the time of %j and %j", async (given, environment, limitMs) => {
    const clock = new ManualClock();
    const asked = context({ given, environment, clock });
    const running = askUserQuestion.run({ questions }, asked);
    await clock.advance(limitMs - 1);
    expect(asked.resource(pendingQuestions).list()).toHaveLength(1);
    await clock.advance(1);
    expect((await running).promptText).toContain("declined");
    expect(() => asked.resource(pendingQuestions).answer("call-1", { outcome: "cancelled" })).toThrow(
      /no question/,
    );
  });

  it("can wait for ever", async () => {
    const clock = new ManualClock();
    const asked = context({ given: { timeout_enabled: false, timeout_secs: 1 }, clock });
    const running = askUserQuestion.run({ questions }, asked);
    expect(asked.resource(pendingQuestions).list()).toMatchObject([{ expiresAtMs: undefined }]);
    expect(clock.pendingTimers).toBe(0);
    asked.resource(pendingQuestions).answer("call-1", { outcome: "cancelled" });
    await running;
  });

  it.each([
    ["non_interactive", context({ given: { non_interactive: true } })],
    ["a program without the endpoint", context({ settings: defaultToolSettings })],
  ])("answers at once that nobody is there: %s", async (_name, asked) => {
    const { output } = await askUserQuestion.run({ questions }, asked);
    expect(output).toMatchObject({ UserAnswered: { message: expect.stringContaining("no user available") } });
  });

  it("has nothing to send without questions", async () => {
    const { output } = await askUserQuestion.run(
      { questions: [] },
      context({ settings: defaultToolSettings }),
    );
    expect(output).toMatchObject({ QuestionsSent: { question_count: 0 } });
  });

  const free = (question: string): { question: string; options: never[] } => ({ question, options: [] });
  const option = { label: "l", description: "d" };
  it.each([
    [{}, ErrorCode.MISSING_REQUIRED_FIELD, "questions"],
    [{ questions: [{ question: "Q?" }] }, ErrorCode.MISSING_REQUIRED_FIELD, "questions[0].options"],
    [{ questions: [free("Q?"), free("Q?")] }, ErrorCode.INVALID_INPUT, "questions[1].question"],
    [{ questions: Array.from({ length: 9 }, (_, n) => free(`Q${n}`)) }, ErrorCode.INVALID_INPUT, "questions"],
    [{ questions: [free("x".repeat(4_001))] }, ErrorCode.INVALID_INPUT, "questions[0].question"],
    [
      { questions: [{ question: "Q?", options: Array.from({ length: 13 }, () => option) }] },
      ErrorCode.INVALID_INPUT,
      "questions[0].options",
    ],
    [
      { questions: [{ question: "Q?", options: [{ ...option, preview: "x".repeat(4_001) }] }] },
      ErrorCode.INVALID_INPUT,
      "questions[0].options[0].preview",
    ],
    [
      { questions: [{ ...free("Q?"), multi_select: "maybe" }] },
      ErrorCode.INVALID_INPUT,
      "questions[0].multi_select",
    ],
  ])("refuses %#", async (input, code, field) => {
    const run = askUserQuestion.run(input, context({ given: { non_interactive: true } }));
    await expect(run).rejects.toMatchObject({ code, details: { field } });
  });

  it("advertises no aliases and says that answers can be pushed", async () => {
    await using test = await testRuntime([askUserQuestion], { settings });
    await using session = await test.runtime.openSession({ id: "s", tools: ["GrokBuild:ask_user_question"] });
    const [card] = session.listTools();
    expect(JSON.stringify(card?.inputSchema)).toMatch(/"multi_select"/);
    expect(JSON.stringify(card?.inputSchema)).not.toMatch(/multiSelect|"id"/);
    expect(card?.capabilities.custom).toContain("answers:push");
  });

  it("says nothing of answers where they cannot be given", async () => {
    await using test = await testRuntime([askUserQuestion]);
    const [card] = test.runtime.sessions.session("s").listTools();
    expect(card?.capabilities.custom).not.toContain("answers:push");
  });
});

describe("pending questions", () => {
  it.each([
    [null, "outcome_json is no object"],
    [{}, "outcome_json.outcome is missing; it can be: accepted, chat_about_this, skip_interview, cancelled"],
    [{ outcome: "yes" }, 'outcome_json.outcome is "yes"'],
    [{ outcome: "accepted" }, "outcome_json.answers"],
    [{ outcome: "accepted", answers: { [colour]: 3 } }, `outcome_json.answers.${colour}`],
    [
      { outcome: "accepted", answers: { "Why?": "x" } },
      'outcome_json.answers answers "Why?", which was not asked',
    ],
    [{ outcome: "skip_interview", partial_answers: { x: "y" } }, "outcome_json.partial_answers answers"],
  ])("stay when the answer %j is wrong", async (outcome, message) => {
    const asked = context();
    const running = askUserQuestion.run({ questions }, asked);
    const pending = asked.resource(pendingQuestions);
    expect(() => pending.answer("call-1", outcome)).toThrow(
      expect.objectContaining({ kind: "invalidInput", message: expect.stringContaining(message) }),
    );
    expect(pending.list()).toHaveLength(1);
    pending.answer("call-1", { outcome: "cancelled" });
    await running;
  });

  it("are answered once", async () => {
    const asked = context();
    const running = askUserQuestion.run({ questions }, asked);
    const pending = asked.resource(pendingQuestions);
    pending.answer("call-1", { outcome: "cancelled" });
    expect(() => pending.answer("call-1", { outcome: "cancelled" })).toThrow(
      expect.objectContaining({ kind: "notFound" }),
    );
    await running;
  });

  it("end with their call", async () => {
    const controller = new AbortController();
    const clock = new ManualClock();
    const asked = context({ signal: controller.signal, clock });
    const running = askUserQuestion.run({ questions }, asked);
    controller.abort(new Error("gone"));
    await expect(running).rejects.toThrow("gone");
    expect(asked.resource(pendingQuestions).list()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("are so many at a time; the next is told to wait, and nobody hears of it", async () => {
    const told: ToolNotification[] = [];
    const controller = new AbortController();
    const asked = context({ signal: controller.signal, notify: (one) => told.push(one) });
    const waiting = Array.from({ length: 64 }, (_, index) =>
      askUserQuestion.run({ questions }, { ...asked, callId: `c${index}` }),
    );
    const last = askUserQuestion.run({ questions }, { ...asked, callId: "last" });
    await expect(last).rejects.toMatchObject({ code: ErrorCode.EXECUTION_FAILED, retryable: true });
    expect(told).toHaveLength(64);
    controller.abort(new Error("gone"));
    await Promise.allSettled(waiting);
  });

  it("end when the session ends, and the call says so", async () => {
    await using test = await testRuntime([askUserQuestion], { settings });
    const session = await test.runtime.openSession({ id: "s", tools: ["GrokBuild:ask_user_question"] });
    const running = session.execute("ask_user_question", { questions }, { callId: "c" });
    await expect.poll(() => session.questions.list().map(({ callId }) => callId)).toEqual(["c"]);
    await session.close();
    expect((await running).result).toMatchObject({ ok: false, error: { code: ErrorCode.CANCELLED } });
  });
});
