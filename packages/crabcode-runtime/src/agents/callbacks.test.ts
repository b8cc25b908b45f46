import { describe, expect, it } from "vitest";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";
import type { AgentSnapshot } from "./agent-types.ts";

const session = { sessionId: "" };

describe("a callback", () => {
  it("goes on with the main conversation and is delivered before the end of that turn is seen", async () => {
    await using fixture = await started([{ text: "12 <files>" }, { text: "It counted 12." }]);
    const bus = await fixture.subscribe();
    const agentId = await spawn(fixture);
    expect(await bus.find({ type: "turn_complete" })).toMatchObject({
      reason: "end_turn",
      operation_scope: "background",
    });
    const agent = await get(fixture, agentId);
    expect(agent).toMatchObject({
      callbackState: "delivered",
      callbackEpoch: 0,
      callbackMessageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const message = fixture.models.requests[1]?.messages.at(-1);
    expect(message?.origin).toBe("task-notification");
    const text = message?.content[0]?.type === "text" ? message.content[0].text : "";
    expect(text).toMatch(/^<task-notification>\n<session-id>/);
    expect(text).toContain(`<task-id>${agentId}</task-id>`);
    expect(text).toContain(`<uuid>${String(agent.callbackMessageId)}</uuid>`);
    expect(text).toContain("<result>12 &lt;files&gt;</result>");
    expect(text).not.toContain("<error>");
  });

  it("waits for the turn that runs and for messages that wait; all that is ready goes in one message", async () => {
    await using fixture = await started([{ text: "busy", hold: "main" }]);
    const bus = await fixture.subscribe();
    await fixture.send("work");
    await untilRequests(fixture, 1);
    fixture.models.entries.push({ text: "one" }, { text: "two" });
    const ids = [await spawn(fixture), await spawn(fixture)];
    await bus.find({ type: "agent_state", status: "completed" }, 2);
    fixture.models.entries.push({ text: "second" }, { text: "both" });
    await fixture.send("next");
    fixture.models.release("main");
    await bus.find({ type: "turn_complete" }, 3);
    const said = bus.events.filter(({ type }) => type === "stream_text").map((event) => event["text"]);
    expect(said).toEqual(["busy", "second", "both"]);
    const [first, second] = [await get(fixture, ids[0]), await get(fixture, ids[1])];
    expect(first.callbackState).toBe("delivered");
    expect(second.callbackMessageId).toBe(first.callbackMessageId);
  });

  it("that failed is tried once more after the next turn that ends well, with the same message", async () => {
    const failure = { kind: "auth" as const, message: "no" };
    await using fixture = await started([{ text: "result" }, { failure }]);
    const bus = await fixture.subscribe();
    const agentId = await spawn(fixture);
    await bus.find({ type: "turn_complete", reason: "error" });
    const injected = await get(fixture, agentId);
    expect(injected.callbackState).toBe("injected");
    fixture.models.entries.push({ text: "hello" }, { text: "now" });
    await (await fixture.send("hi")).all();
    await bus.find({ type: "turn_complete" }, 3);
    expect(await get(fixture, agentId)).toMatchObject({
      callbackState: "delivered",
      callbackMessageId: injected.callbackMessageId,
    });
    const messages = fixture.models.requests.at(-1)?.messages ?? [];
    // Repeated at the end of the request, once in the history.
    expect(messages.filter(({ origin }) => origin === "task-notification")).toHaveLength(2);
    expect(messages.at(-1)?.origin).toBe("task-notification");
  });

  it("stays pending while the session has no model that can be used", async () => {
    await using fixture = await started([{ text: "result" }]);
    const bus = await fixture.subscribe();
    const agentId = await spawn(fixture, { modelProfile: "other" });
    fixture.models.unusable.add("script");
    expect(await bus.find({ type: "error" })).toMatchObject({ error_type: "agent_callback" });
    expect(await get(fixture, agentId)).toMatchObject({ callbackState: "pending" });
    const input = { sessionId: "", agentId, prompt: "more" };
    await expect(fixture.runtime.sendAgentInput(input)).rejects.toMatchObject({
      reason: "CALLBACK_UNDELIVERED",
    });
    fixture.models.entries.push({ text: "thanks" });
    await fixture.runtime.switchModel("", "other");
    await bus.find({ type: "turn_complete" });
    expect(await get(fixture, agentId)).toMatchObject({ callbackState: "delivered" });
  });

  it("of a cancelled agent tells that it was stopped", async () => {
    await using fixture = await started([{ text: ["par", "t"], hold: "never", hold_after_chunks: 1 }]);
    const bus = await fixture.subscribe();
    const agentId = await spawn(fixture);
    await bus.find({ type: "agent_output" });
    fixture.models.entries.push({ text: "I see" });
    await fixture.runtime.cancelAgent({ sessionId: "", agentId });
    await bus.find({ type: "turn_complete" });
    expect(JSON.stringify(fixture.models.requests.at(-1)?.messages)).toContain("<status>stopped</status>");
  });

  it("of a child is further input of the agent that spawned it", async () => {
    await using fixture = await started([
      { tool_calls: [{ id: "s", name: "AgentSpawn", input: { prompt: "inner" } }] },
    ]);
    const bus = await fixture.subscribe();
    const outer = await spawn(fixture, { hasCallback: false });
    await bus.find({ type: "agent_state", parent_agent_id: outer, status: "running" });
    // Whoever of the two asks first.
    fixture.models.entries.push({ text: "a" }, { text: "b" }, { text: "heard" });
    await bus.find({ type: "agent_state", agent_id: outer, status: "completed" }, 2);
    const { agents } = await fixture.runtime.listAgents("");
    expect(agents).toMatchObject([
      { parentAgentId: outer, callbackState: "delivered" },
      { agentId: outer, callbackEpoch: 1, finalResult: "heard", callbackState: "disabled" },
    ]);
  });
});

describe("after a crash", () => {
  it("agents that ran are stopped, their questions cancelled, and their results handed over", async () => {
    await using fixture = await started(
      [{ text: "let me", tool_calls: [{ id: "x1", name: "Bash", input: { command: "ls" } }] }],
      { settings: {} },
    );
    const bus = await fixture.subscribe();
    const agentId = await spawn(fixture);
    const question = await bus.find({ type: "permission_request" });
    await fixture.clock.advance(0);
    await using crashed = await fixture.afterCrash([{ text: "a pity" }]);
    const { runtime } = crashed;
    const agent = await runtime.getAgent({ sessionId: "", agentId });
    expect(agent).toMatchObject({ status: "stopped", error: "session ended", finalResult: "let me" });
    expect(await runtime.waitAgent({ sessionId: "", agentIds: [agentId] })).toMatchObject({ agentId });
    const answer = { sessionId: "", toolUseId: "x1", isAllowed: true, agentId };
    await expect(runtime.respondPermission(answer)).rejects.toMatchObject({
      reason: "REQUEST_ALREADY_ANSWERED",
    });
    const { events } = await runtime.subscribe({
      session: { sessionId: agent.sessionId },
      afterSeq: `${String(question["epoch"])}:${String(question["seq"])}`,
    });
    const seen: Record<string, unknown>[] = [];
    for await (const { payloadJson } of events) {
      seen.push(JSON.parse(payloadJson));
      if (seen.at(-1)?.["type"] === "turn_complete") break;
    }
    const types = seen.map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(["server.connected", "permission_response"]);
    expect(seen[1]).toMatchObject({ resolution: "cancelled", agent_id: agentId });
    expect(seen[2]).toMatchObject({ type: "tool_result", result: "Interrupted" });
    expect(seen[3]).toMatchObject({ type: "agent_state", status: "stopped" });
    expect(await runtime.getAgent({ sessionId: "", agentId })).toMatchObject({ callbackState: "delivered" });
  });

  it("a delivered result is not handed over again; one that was only injected is", async () => {
    await using fixture = await started([{ text: "result" }, { text: "answer", hold: "turn" }]);
    const bus = await fixture.subscribe();
    const agentId = await spawn(fixture);
    await bus.find({ type: "stream_mode" });
    await untilRequests(fixture, 2);
    {
      await using crashed = await fixture.afterCrash([{ text: "again" }]);
      await until(fixture, async () => {
        const { callbackState } = await crashed.runtime.getAgent({ sessionId: "", agentId });
        return callbackState === "delivered";
      });
      const messages = crashed.models.requests[0]?.messages ?? [];
      expect(messages.map(({ origin }) => origin)).toEqual([undefined, "task-notification"]);
    }
    fixture.models.release("turn");
    await bus.find({ type: "turn_complete" });
    await using crashed = await fixture.afterCrash();
    const agent = await crashed.runtime.getAgent({ sessionId: "", agentId });
    expect(agent.callbackState).toBe("delivered");
    await fixture.clock.advance(0);
    expect(crashed.models.requests).toEqual([]);
  });

  it("a stored agent goes on with its conversation", async () => {
    await using fixture = await started([{ text: "one" }]);
    const agentId = await spawn(fixture, { hasCallback: false });
    await fixture.runtime.waitAgent({ sessionId: "", agentIds: [agentId] });
    await using crashed = await fixture.afterCrash([{ text: "two" }]);
    await crashed.runtime.sendAgentInput({ sessionId: "", agentId, prompt: "more" });
    const agent = await crashed.runtime.waitAgent({ sessionId: "", agentIds: [agentId] });
    expect(agent).toMatchObject({ finalResult: "two", usage: { input_tokens: 20 } });
    expect(crashed.models.requests[0]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });
});

it("closing a session stops its agents; their results are handed over when it is loaded again", async () => {
  await using fixture = await started([{ text: ["par", "t"], hold: "never", hold_after_chunks: 1 }]);
  const bus = await fixture.subscribe();
  const agentId = await spawn(fixture);
  await bus.find({ type: "agent_output" });
  const { sessionId } = await fixture.runtime.listModels("");
  const closing = fixture.runtime.closeSession(sessionId);
  await bus.ended;
  await closing;
  expect(bus.events.at(-1)).toMatchObject({ type: "agent_state", status: "stopped" });
  fixture.models.entries.push({ text: "I see" });
  expect(await get(fixture, agentId)).toMatchObject({ status: "stopped", error: "session ended" });
  await until(fixture, async () => (await get(fixture, agentId)).callbackState === "delivered");
});

function started(
  script: readonly ScriptEntry[],
  { settings = { permissions: { run_everything: true } } }: { settings?: Record<string, unknown> } = {},
): Promise<RuntimeFixture> {
  return RuntimeFixture.create({ script, settings, isDurable: true });
}

async function spawn({ runtime }: RuntimeFixture, more: object = {}): Promise<string> {
  const { agentId } = await runtime.spawnAgent({ session, prompt: "count", hasCallback: true, ...more });
  return agentId;
}

function get({ runtime }: RuntimeFixture, agentId = ""): Promise<AgentSnapshot> {
  return runtime.getAgent({ sessionId: "", agentId });
}

async function until({ clock }: RuntimeFixture, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await clock.advance(0);
}

async function untilRequests(fixture: RuntimeFixture, count: number): Promise<void> {
  await until(fixture, () => Promise.resolve(fixture.models.requests.length >= count));
}
