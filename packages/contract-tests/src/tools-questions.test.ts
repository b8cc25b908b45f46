import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { openToolSession, ToolQuestions } from "@trivium/grok-tools-client";
import { Health, HealthCheckResponse_ServingStatus } from "@trivium/proto/health";
import { QuestionService } from "@trivium/proto/tools-questions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { protocols } from "./protocols.ts";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";
import { statusOf } from "./take.ts";

let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess();
});
afterAll(() => server[Symbol.asyncDispose]());

const questions = [{ question: "Which?", options: [{ label: "A", description: "a" }] }];
const answer = { outcome: "accepted", answers: { "Which?": ["A"] } } as const;

describe("questions of tools", () => {
  it.each(protocols)("are listed and answered over $name", async (protocol) => {
    const transport = protocol.createTransport(server.url);
    const session = await openToolSession(transport, {
      tools: ["GrokBuild:ask_user_question"],
      sessionId: `asks ${protocol.name}`,
    });
    expect(session.tools[0]?.capabilities?.customCapabilities).toContain("answers:push");
    const pending = new ToolQuestions(transport, session);
    const running = session.callOrThrow("ask_user_question", { questions }, { callId: "c1" });
    await expect.poll(() => pending.list()).toMatchObject([{ callId: "c1", content: questions }]);
    await expect(pending.answer("c1", { outcome: "approved" })).rejects.toMatchObject({
      kind: "invalidInput",
    });
    await pending.answer("c1", answer);
    await expect(pending.answer("c1", answer)).rejects.toMatchObject({ kind: "notFound" });
    expect((await running).promptText).toContain('"Which?"="A"');
  });

  it("end with a call whose client goes away", async () => {
    const transport = createGrpcTransport({ baseUrl: server.url });
    const session = await openToolSession(transport, { tools: ["GrokBuild:ask_user_question"] });
    const pending = new ToolQuestions(transport, session);
    const controller = new AbortController();
    const running = session.call("ask_user_question", { questions }, { signal: controller.signal });
    await expect.poll(() => pending.list()).toHaveLength(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => pending.list()).toEqual([]);
  });

  it("end with the call's own time-out", async () => {
    const transport = createGrpcTransport({ baseUrl: server.url });
    const session = await openToolSession(transport, { tools: ["GrokBuild:ask_user_question"] });
    const result = await session.call("ask_user_question", { questions }, { timeoutMs: 50 });
    expect(result).toMatchObject({ ok: false, error: { isRetryable: true } });
    expect(await new ToolQuestions(transport, session).list()).toEqual([]);
  });

  it("are a service of their own for health, and listed by GET", async () => {
    const transport = createGrpcTransport({ baseUrl: server.url });
    const health = createClient(Health, transport);
    expect(await health.check({ service: QuestionService.typeName })).toMatchObject({
      status: HealthCheckResponse_ServingStatus.SERVING,
    });
    const url = `${server.url}/${QuestionService.typeName}/ListQuestions?connect=v1&encoding=json&message=%7B%7D`;
    const response = await fetch(url, { headers: { "x-trivium-session": "nobody" } });
    expect(await response.json()).toMatchObject({ code: "failed_precondition" });
    const answering = createClient(QuestionService, transport).answerQuestion({
      callId: "c",
      outcomeJson: "{}",
    });
    expect(await statusOf(answering)).toMatchObject({ code: Code.FailedPrecondition });
  });
});

describe("workflows of a server with code mode", () => {
  it("run as cells, and are checked without being run", async () => {
    const session = await openToolSession(createGrpcTransport({ baseUrl: server.url }), {
      tools: ["GrokBuild:workflow"],
    });
    const script = `const meta = { name: "sum" }; text(args.reduce((a, b) => a + b))`;
    const { output } = await session.callOrThrow("workflow", { script, args: [1, 2, 3] });
    expect(output).toMatchObject({ type: "Workflow", name: "sum", message: "6" });
    const checked = await session.callOrThrow("workflow", { script, validate_only: true });
    expect(checked.output).toMatchObject({ run_id: "", task_id: "" });
    expect(await session.call("workflow", { script: "let = ;", validate_only: true })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("SyntaxError") },
    });
    const greedy = { script: "await parallel(['a', 'b', 'c'])", agent_budget: 2 };
    expect(await session.call("workflow", greedy)).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/asks for 3 agents, but its agent_budget is 2/) },
    });
  });
});
