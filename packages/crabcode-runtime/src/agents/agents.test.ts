import { describe, expect, it } from "vitest";
import { type Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";
import type { SpawnAgentInput } from "./agent-types.ts";

describe("an agent", () => {
  it("runs from queued to completed; what it says is not the conversation's", async () => {
    await using fixture = await started([{ thinking: "hm", text: "3 files" }]);
    const bus = await fixture.subscribe();
    const { agentId } = await spawn(fixture, "count\nfiles", { subagentType: "explore" });
    await bus.find({ type: "agent_state", status: "completed" });
    expect(ofAgents(bus)).toEqual([
      "agent_state:queued",
      "agent_state:running",
      "agent_output:hm",
      "agent_output:3 files",
      "agent_state:completed",
    ]);
    expect(await fixture.runtime.getAgent({ sessionId: "", agentId })).toMatchObject({
      agentId,
      parentAgentId: undefined,
      title: "count",
      subagentType: "explore",
      status: "completed",
      model: "m",
      createdAt: "2026-01-01T00:00:00.000Z",
      finishedAt: "2026-01-01T00:00:00.000Z",
      usage: { input_tokens: 10, output_tokens: 5 },
      finalResult: "3 files",
      error: "",
      hasCallback: false,
      callbackState: "disabled",
      callbackEpoch: 0,
      transcriptPath: expect.stringMatching(/\.agents\/[0-9a-f-]{36}\.jsonl$/),
    });
    expect(fixture.models.requests[0]).toMatchObject({
      loop: { agentNumber: 1 },
      messages: [{ role: "user", content: [{ type: "text", text: "count\nfiles" }] }],
    });
    expect(fixture.models.requests[0]?.tools.map(({ name }) => name)).toEqual([
      "Read",
      "Grep",
      "Glob",
      "AskUser",
      "AgentStatus",
      "AgentWait",
    ]);
  });

  it.each<[string, Partial<SpawnAgentInput>, string]>([
    ["blank prompt", { prompt: " \n" }, "EMPTY_TEXT"],
    ["prompt over 1 MiB", { prompt: "x".repeat(1024 * 1024 + 1) }, "TOO_LARGE"],
    [
      "type with a typo (item 18: it would get tools that write)",
      { subagentType: "explorer" },
      "SUBAGENT_TYPE_UNKNOWN",
    ],
    ["unknown profile", { modelProfile: "none" }, "PROFILE_NOT_FOUND"],
    ["profile without a key", { modelProfile: "other" }, "PROFILE_UNUSABLE"],
    ["broken key", { idempotencyKey: "ü" }, "IDEMPOTENCY_KEY_INVALID"],
    ["unknown session", { session: { sessionId: "nope" } }, "SESSION_NOT_FOUND"],
  ])("is refused for a %s", async (_, input, reason) => {
    await using fixture = await started();
    fixture.models.unusable.add("other");
    await expect(spawn(fixture, "x", input)).rejects.toMatchObject({ reason });
    expect((await fixture.runtime.listAgents("")).agents).toEqual([]);
  });

  it("item 10: fails with the message of the error that its loop met", async () => {
    await using fixture = await started([{ failure: { kind: "auth", message: "no key" } }]);
    const { agentId } = await spawn(fixture);
    expect(await wait(fixture, [agentId])).toMatchObject({ status: "failed", error: "no key" });
  });

  it("works with the tools and the prompt that its type names", async () => {
    const types = {
      reviewer: { model_profile: "other", allowed_tools: ["Read", "Glob"], prompt: "Review." },
    };
    await using fixture = await started([{ text: "ok" }], { agent: { types } });
    const { agentId } = await spawn(fixture, "x", { subagentType: "reviewer" });
    await wait(fixture, [agentId]);
    expect(fixture.models.requests[0]).toMatchObject({
      loop: { profile: "other" },
      system: ["Review."],
      tools: [{ name: "Read" }, { name: "Glob" }],
    });
  });

  it("of the deepest level cannot spawn", async () => {
    await using fixture = await started([{ text: "ok" }], { agent: { max_depth: 1 } });
    const { agentId } = await spawn(fixture);
    await wait(fixture, [agentId]);
    const names = fixture.models.requests[0]?.tools.map(({ name }) => name);
    expect(names).toContain("Bash");
    expect(names).not.toContain("AgentSpawn");
    expect(names).not.toContain("Agent");
  });

  it("loses its write access when the session switches to plan mode", async () => {
    await using fixture = await started([write("x1"), { text: "no" }]);
    await fixture.runtime.switchMode("", "plan");
    const bus = await fixture.subscribe();
    const { agentId } = await spawn(fixture);
    await wait(fixture, [agentId]);
    expect(await bus.find({ type: "tool_result" })).toMatchObject({
      result: expect.stringMatching(/^Permission denied/),
      agent_id: agentId,
    });
  });

  it("ends after the requests that the settings allow, completed", async () => {
    const glob: ScriptEntry = { tool_calls: [{ id: "", name: "Glob", input: { pattern: "*" } }] };
    await using fixture = await started([glob, glob], { agent: { max_turns: 2 } });
    const { agentId } = await spawn(fixture);
    expect(await wait(fixture, [agentId])).toMatchObject({
      status: "completed",
      error: "",
      usage: { input_tokens: 20 },
    });
  });
});

describe("an idempotency key", () => {
  it("gives the same agent, also after a restart, and is apart from another request", async () => {
    await using fixture = await started([{ text: "a" }], {}, { isDurable: true });
    const first = await spawn(fixture, "p", { idempotencyKey: "k" });
    expect(await spawn(fixture, "p", { idempotencyKey: "k" })).toEqual({ ...first, isReplay: true });
    await expect(spawn(fixture, "q", { idempotencyKey: "k" })).rejects.toMatchObject({
      reason: "IDEMPOTENCY_MISMATCH",
    });
    await wait(fixture, [first.agentId]);
    await using crashed = await fixture.afterCrash();
    const again = await crashed.runtime.spawnAgent({
      session: { sessionId: "" },
      prompt: "p",
      idempotencyKey: "k",
    });
    expect(again).toEqual({ ...first, isReplay: true });
  });

  it("is forgotten a day after the end of its agent", async () => {
    await using fixture = await started([{ text: "a" }, { text: "b" }]);
    const first = await spawn(fixture, "p", { idempotencyKey: "k" });
    await wait(fixture, [first.agentId]);
    await fixture.clock.advance(86_400_001);
    const second = await spawn(fixture, "p", { idempotencyKey: "k" });
    expect(second.agentId).not.toBe(first.agentId);
  });
});

describe("waiting", () => {
  it("gives the first in the order of the request that has ended, or the first to end", async () => {
    await using fixture = await started([
      { agent: 1, text: "a", hold: "a" },
      { agent: 2, text: "b" },
      { agent: 3, text: "c" },
    ]);
    const a = await spawn(fixture);
    const b = await spawn(fixture);
    const c = await spawn(fixture);
    await wait(fixture, [b.agentId]);
    await wait(fixture, [c.agentId]);
    expect(await wait(fixture, [a.agentId, "", c.agentId, b.agentId])).toMatchObject({ finalResult: "c" });
    const waiting = wait(fixture, [a.agentId, a.agentId]);
    fixture.models.release("a");
    expect(await waiting).toMatchObject({ agentId: a.agentId });
    const { agents } = await fixture.runtime.listAgents("");
    expect(agents.map(({ agentId }) => agentId)).toEqual([c.agentId, b.agentId, a.agentId]);
  });

  it.each([0, -5, 50])("for %i ms ends with a time-out and leaves the agent alone", async (timeoutMs) => {
    await using fixture = await started([{ text: "a", hold: "a" }]);
    const { agentId } = await spawn(fixture);
    const waiting = fixture.runtime.waitAgent({ sessionId: "", agentIds: [agentId], timeoutMs });
    const refused = expect(waiting).rejects.toMatchObject({ reason: "WAIT_TIMEOUT" });
    await fixture.clock.advance(50);
    await refused;
    expect(await fixture.runtime.getAgent({ sessionId: "", agentId })).toMatchObject({ status: "running" });
  });

  it("leaves no timer and no listener behind", async () => {
    await using fixture = await started([{ text: "a", hold: "a" }]);
    const { agentId } = await spawn(fixture);
    await fixture.clock.advance(0);
    const timers = fixture.clock.pendingTimers;
    const abort = new AbortController();
    const waiting = fixture.runtime.waitAgent({
      sessionId: "",
      agentIds: [agentId],
      timeoutMs: 1000,
      signal: abort.signal,
    });
    await fixture.clock.advance(0);
    expect(fixture.clock.pendingTimers).toBe(timers + 1);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    expect(fixture.clock.pendingTimers).toBe(timers);
  });

  it("needs agents of one session", async () => {
    await using fixture = await started([{ text: "a" }]);
    const { agentId } = await spawn(fixture);
    await expect(wait(fixture, ["", " "])).rejects.toMatchObject({
      reason: "FIELD_INVALID",
      field: "agent_ids",
    });
    await expect(wait(fixture, [agentId, "nope"])).rejects.toMatchObject({ reason: "AGENT_NOT_FOUND" });
    const other = { session: { sessionId: "other", create: true } };
    await spawn(fixture, "x", other);
    const elsewhere = { sessionId: "other", agentId };
    await expect(fixture.runtime.getAgent(elsewhere)).rejects.toMatchObject({ reason: "AGENT_NOT_FOUND" });
    await expect(fixture.runtime.cancelAgent(elsewhere)).rejects.toMatchObject({
      reason: "AGENT_NOT_FOUND",
    });
  });
});

describe("cancelling", () => {
  it("keeps what the agent said, once", async () => {
    await using fixture = await started([{ text: ["par", "tial"], hold: "never", hold_after_chunks: 1 }]);
    const bus = await fixture.subscribe();
    const { agentId } = await spawn(fixture);
    await bus.find({ type: "agent_output" });
    expect(await fixture.runtime.cancelAgent({ sessionId: "", agentId })).toMatchObject({ isStopped: true });
    expect(await fixture.runtime.cancelAgent({ sessionId: "", agentId })).toMatchObject({ isStopped: false });
    expect(await fixture.runtime.getAgent({ sessionId: "", agentId })).toMatchObject({
      status: "stopped",
      error: "stopped",
      finalResult: "par",
    });
    expect(ofAgents(bus).filter((line) => line === "agent_state:stopped")).toHaveLength(1);
  });

  it("of a queued agent lets it never run", async () => {
    await using fixture = await started([{ text: "a", hold: "a" }], { agent: { max_concurrency: 1 } });
    const bus = await fixture.subscribe();
    await spawn(fixture);
    const { agentId } = await spawn(fixture);
    expect(await fixture.runtime.cancelAgent({ sessionId: "", agentId })).toMatchObject({ isStopped: true });
    fixture.models.release("a");
    await bus.find({ type: "agent_state", status: "completed" });
    const states = bus.events.filter((event) => event["agent_id"] === agentId);
    expect(states.map((event) => event["status"])).toEqual(["queued", "stopped"]);
  });

  it("reaches the children first", async () => {
    await using fixture = await started(
      [
        { tool_calls: [{ id: "s", name: "AgentSpawn", input: { prompt: "inner" } }] },
        { text: "x", hold: "never" },
        { text: "y", hold: "never" },
      ],
      allowAll,
    );
    const bus = await fixture.subscribe();
    const { agentId } = await spawn(fixture);
    await bus.find({ type: "agent_state", status: "running" }, 2);
    await fixture.runtime.cancelAgent({ sessionId: "", agentId });
    const stopped = bus.events.filter((event) => event["status"] === "stopped");
    expect(stopped.map((event) => event["parent_agent_id"])).toEqual([agentId, null]);
    const { agents } = await fixture.runtime.listAgents("");
    expect(agents[0]).toMatchObject({ status: "stopped", callbackState: "disabled" });
  });

  it("settles the agent's question as cancelled", async () => {
    await using fixture = await started([write("x1")]);
    const bus = await fixture.subscribe();
    const { agentId } = await spawn(fixture);
    await bus.find({ type: "permission_request", agent_id: agentId });
    await fixture.runtime.cancelAgent({ sessionId: "", agentId });
    expect(await bus.find({ type: "permission_response" })).toMatchObject({
      agent_id: agentId,
      resolution: "cancelled",
    });
    expect(await bus.find({ type: "tool_result" })).toMatchObject({ result: "Interrupted" });
  });
});

describe("slots", () => {
  it("are given in the order of spawning; past the limit of active agents none is registered", async () => {
    const held: ScriptEntry[] = Array.from({ length: 3 }, () => ({ text: "x", hold: "h" }));
    await using fixture = await started(held, {
      agent: { max_concurrency: 1, max_active_agents_per_run: 3 },
    });
    const bus = await fixture.subscribe();
    const ids = [await spawn(fixture), await spawn(fixture), await spawn(fixture)].map(
      ({ agentId }) => agentId,
    );
    await expect(spawn(fixture)).rejects.toMatchObject({ reason: "AGENT_LIMIT" });
    fixture.models.release("h");
    await bus.find({ type: "agent_state", status: "completed" }, 3);
    const order = bus.events.filter((event) => event["status"] === "running");
    expect(order.map((event) => event["agent_id"])).toEqual(ids);
  });

  it("do not lock an agent that waits for its child", async () => {
    await using fixture = await started(
      [
        { tool_calls: [{ id: "s", name: "AgentSpawn", input: { prompt: "inner", callback: false } }] },
        { tool_calls: [{ id: "l", name: "AgentStatus", input: {} }] },
        { text: "outer done" },
      ],
      { ...allowAll, agent: { max_concurrency: 1 } },
    );
    const bus = await fixture.subscribe();
    const outer = await spawn(fixture);
    const inner = await bus.find({ type: "agent_state", parent_agent_id: outer.agentId });
    // The status is asked before the inner one can have run.
    await bus.find({ type: "tool_result", tool_use_id: "l" });
    expect(inner["status"]).toBe("queued");
    fixture.models.entries.push({ text: "inner done" });
    expect(await wait(fixture, [String(inner["agent_id"])])).toMatchObject({ finalResult: "inner done" });
  });
});

describe("further input", () => {
  it("goes on with the conversation in a new epoch", async () => {
    await using fixture = await started([{ text: "one" }, { text: "two" }]);
    const { agentId } = await spawn(fixture, "first");
    await wait(fixture, [agentId]);
    const reference = { sessionId: "", agentId };
    const input = { ...reference, prompt: "second", idempotencyKey: "k" };
    expect(await fixture.runtime.sendAgentInput(input)).toMatchObject({ callbackEpoch: 1, isReplay: false });
    expect(await fixture.runtime.sendAgentInput(input)).toMatchObject({ callbackEpoch: 1, isReplay: true });
    expect(await wait(fixture, [agentId])).toMatchObject({
      finalResult: "two",
      callbackEpoch: 1,
      usage: { input_tokens: 20, output_tokens: 10 },
    });
    expect(fixture.models.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });

  it("interrupts a running agent only when it is told to", async () => {
    await using fixture = await started([
      { text: ["x", "y"], hold: "never", hold_after_chunks: 1 },
      { text: "two" },
    ]);
    const bus = await fixture.subscribe();
    const { agentId } = await spawn(fixture, "first");
    await bus.find({ type: "agent_output" });
    const input = { sessionId: "", agentId, prompt: "second" };
    await expect(fixture.runtime.sendAgentInput(input)).rejects.toMatchObject({ reason: "AGENT_RUNNING" });
    await fixture.runtime.sendAgentInput({ ...input, interrupt: true });
    expect(await wait(fixture, [agentId])).toMatchObject({ status: "completed", finalResult: "two" });
  });

  it.each([
    [{ prompt: " " }, "EMPTY_TEXT"],
    [{ agentId: "nope" }, "AGENT_NOT_FOUND"],
    [{ agentId: "" }, "FIELD_INVALID"],
  ])("with %j is refused", async (wrong, reason) => {
    await using fixture = await started([{ text: "one" }]);
    const { agentId } = await spawn(fixture, "first");
    await wait(fixture, [agentId]);
    const input = { sessionId: "", agentId, prompt: "x", ...wrong };
    await expect(fixture.runtime.sendAgentInput(input)).rejects.toMatchObject({ reason });
  });
});

it("an agent that still works while the server drains can make no other", async () => {
  const spawning: ScriptEntry = {
    agent: 1,
    tool_calls: [{ id: "c1", name: "AgentSpawn", input: { prompt: "inner" } }],
    hold: "draining",
  };
  await using fixture = await started([spawning, { agent: 1, text: "alone" }], allowAll);
  const bus = await fixture.subscribe();
  await spawn(fixture);
  await bus.find({ type: "agent_state", status: "running" });
  const closing = fixture.runtime.close({ drainMs: 5_000 });
  fixture.models.release("draining");
  await expect(bus.ended).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
  await closing;
  expect(ofAgents(bus).filter((event) => event.startsWith("agent_state"))).toEqual([
    "agent_state:queued",
    "agent_state:running",
    "agent_state:completed",
  ]);
  expect(JSON.stringify(fixture.models.requests[1]?.messages)).toContain("the session is closing");
});

const allowAll = { permissions: { run_everything: true } };

function started(
  script: readonly ScriptEntry[] = [],
  settings: Record<string, unknown> = {},
  more: { isDurable?: boolean } = {},
): Promise<RuntimeFixture> {
  return RuntimeFixture.create({ script, settings, ...more });
}

function spawn(
  { runtime }: RuntimeFixture,
  prompt = "work",
  more: Partial<SpawnAgentInput> = {},
): ReturnType<RuntimeFixture["runtime"]["spawnAgent"]> {
  return runtime.spawnAgent({ session: { sessionId: "" }, prompt, ...more });
}

function wait(
  { runtime }: RuntimeFixture,
  agentIds: readonly string[],
): ReturnType<RuntimeFixture["runtime"]["waitAgent"]> {
  return runtime.waitAgent({ sessionId: "", agentIds });
}

function write(id: string): ScriptEntry {
  return { tool_calls: [{ id, name: "Write", input: { file_path: "a", content: "1" } }] };
}

function ofAgents({ events }: Reader): string[] {
  return events
    .filter(({ type }) => type.startsWith("agent_"))
    .map(({ type, ...event }) => `${type}:${String(event["status"] ?? event["text"])}`);
}
