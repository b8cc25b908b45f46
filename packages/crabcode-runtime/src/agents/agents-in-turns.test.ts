import { describe, expect, it } from "vitest";
import { type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

describe("the Agent tool", () => {
  it("item 9: waits for its agent, whose events are part of the stream of the turn", async () => {
    await using fixture = await started([
      call("c1", "Agent", { task: "count files", subagent_type: "explore" }),
      { text: "3 files" },
      { text: "There are 3." },
    ]);
    const reader = await fixture.send("how many");
    const events = await reader.all();
    expect(events.map(brief)).toEqual([
      "stream_mode requesting",
      "stream_mode tool-input",
      "tool_use",
      "stream_mode tool-running",
      "agent_state queued",
      "agent_state running",
      "agent_output 3 files",
      "agent_state completed",
      "tool_result",
      "stream_mode requesting",
      "stream_mode responding",
      "stream_text There are 3.",
      "turn_complete end_turn",
    ]);
    const result = events.find(({ type }) => type === "tool_result");
    expect(result).toMatchObject({ is_error: false, result: expect.stringContaining("result:\n3 files") });
    expect(events.at(-1)).toMatchObject({ usage: { input_tokens: 20, output_tokens: 10 } });
    expect(events.find(({ type }) => type === "agent_output")).toMatchObject({
      operation_scope: "foreground",
    });
    const { messages = [] } = fixture.models.requests.at(-1) ?? {};
    expect(messages.map(({ role, content }) => `${role} ${content.map(({ type }) => type).join()}`)).toEqual([
      // The user context, then the message.
      "user text",
      "user text",
      "assistant tool_use",
      "user tool_result",
    ]);
  });

  it("names the agent that goes on when the time is over", async () => {
    await using fixture = await started(
      [
        call("c1", "Agent", { prompt: "slow" }),
        { agent: 1, text: "x", hold: "slow" },
        { agent: null, text: "late" },
      ],
      { agent: { timeout: 2 } },
    );
    const reader = await fixture.send("go");
    const { agent_id } = await reader.find({ type: "agent_state", status: "running" });
    await fixture.clock.advance(2000);
    expect(await reader.find({ type: "tool_result" })).toMatchObject({
      is_error: true,
      result: expect.stringContaining(`status: running\nagent_id: ${String(agent_id)}`),
    });
    await reader.all();
    const bus = await fixture.subscribe();
    fixture.models.release("slow");
    expect(await bus.find({ type: "agent_state", status: "completed" })).toMatchObject({
      operation_scope: "background",
    });
  });

  it("stops its agent when the turn is interrupted", async () => {
    await using fixture = await started([
      call("c1", "Agent", { prompt: "work" }),
      { text: ["a", "b"], hold: "never", hold_after_chunks: 1 },
    ]);
    const reader = await fixture.send("go");
    await reader.find({ type: "agent_output" });
    await fixture.runtime.interruptTurn("");
    expect((await reader.all()).map(brief).slice(-3)).toEqual([
      "agent_state stopped",
      "tool_result",
      "turn_complete interrupted",
    ]);
  });

  it("takes the message of the user when the model gives no task", async () => {
    await using fixture = await started([call("c1", "Agent", {}), { text: "a" }, { text: "b" }]);
    await (await fixture.send("count the files")).all();
    expect(fixture.models.requests[1]?.messages).toMatchObject([
      { content: [{ type: "text", text: "count the files" }] },
    ]);
  });
});

describe("the tools for agents", () => {
  it.each([
    ["AgentStatus", { agent_id: "nope" }, "Error: the session has no agent with that id"],
    ["AgentWait", { agent_ids: ["nope"] }, "Error: the session has no agent with that id"],
    ["AgentCancel", { agent_id: "nope" }, "Error: the session has no agent with that id"],
    ["AgentSendInput", { agent_id: "nope", prompt: "x" }, "Error: the session has no agent with that id"],
    ["AgentSpawn", { prompt: "x", subagent_type: "nope" }, "Error: no agent type has that name"],
    ["AgentSpawn", { prompt: " " }, "Validation error: prompt: must not be blank"],
    ["AgentWait", {}, "Validation error: agent_id or agent_ids is needed"],
    ["AgentStatus", {}, "There are no agents."],
  ])("%s with %j answers what is wrong", async (name, input, result) => {
    await using fixture = await started([call("c1", name, input), { text: "ok" }]);
    const reader = await fixture.send("go");
    expect(await reader.find({ type: "tool_result" })).toMatchObject({ result });
  });

  it("say when there are too many agents", async () => {
    await using fixture = await started(
      [{ text: "x", hold: "never" }, call("c1", "AgentSpawn", { prompt: "x" }), { text: "ok" }],
      { agent: { max_active_agents_per_run: 1 } },
    );
    const bus = await fixture.subscribe();
    await fixture.runtime.spawnAgent({ session: { sessionId: "" }, prompt: "first" });
    await bus.find({ type: "agent_state", status: "running" });
    await untilRequests(fixture, 1);
    const reader = await fixture.send("go");
    expect(await reader.find({ type: "tool_result" })).toMatchObject({
      result: "Error: too many active agents (1)",
    });
  });

  it("let the main loop wait for all, or for a time, and send input", async () => {
    await using fixture = await started([{ text: "a" }, { text: "b" }]);
    const first = await spawned(fixture);
    const second = await spawned(fixture);
    fixture.models.entries.push(
      call("w1", "AgentWait", { agent_ids: [first, second], wait_any: false }),
      call("i1", "AgentSendInput", { agent_id: first, prompt: "more" }),
      { text: "again", hold: "never" },
    );
    const reader = await fixture.send("go");
    const all = await reader.find({ type: "tool_result", tool_use_id: "w1" });
    expect(all["result"]).toContain("result:\na");
    expect(all["result"]).toContain("result:\nb");
    await reader.find({ type: "tool_result", tool_use_id: "i1" });
    await reader.find({ type: "agent_state", status: "running" });
    await fixture.runtime.interruptTurn("");
    expect((await fixture.runtime.getAgent({ sessionId: "", agentId: first })).callbackEpoch).toBe(1);
  });
});

describe("questions of agents", () => {
  it("at depth two reach a late subscriber, are answered without the agent's id, and once", async () => {
    await using fixture = await started(
      [
        call("x1", "AgentSpawn", { prompt: "inner", callback: false }),
        call("y1", "Bash", { command: "echo hi" }),
        { text: "done" },
        { text: "done" },
      ],
      { permissions: { allow: [{ tool: "AgentSpawn" }] } },
    );
    const bus = await fixture.subscribe();
    await fixture.runtime.spawnAgent({ session: { sessionId: "" }, prompt: "outer" });
    const question = await bus.find({ type: "permission_request" });
    const late = await fixture.subscribe();
    const again = await late.find({ type: "permission_request" });
    expect(again).toEqual({ ...question, replayed: true });
    const agentId = String(question["agent_id"]);
    const answer = { sessionId: "", toolUseId: String(question["tool_use_id"]), isAllowed: true };
    await expect(
      fixture.runtime.respondPermission({ ...answer, agentId: "no-such-agent" }),
    ).rejects.toMatchObject({ reason: "AGENT_NOT_FOUND" });
    await fixture.runtime.respondPermission(answer);
    expect(await late.find({ type: "tool_result", agent_id: agentId })).toMatchObject({
      tool_use_id: question["tool_use_id"],
    });
    await expect(fixture.runtime.respondPermission({ ...answer, agentId })).rejects.toMatchObject({
      reason: "REQUEST_ALREADY_ANSWERED",
    });
  });

  it("are refused at once when nobody answers for the agent", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [call("x1", "Bash", { command: "ls" }), { text: "ok" }],
    });
    const bus = await fixture.subscribe();
    await fixture.runtime.spawnAgent({ session: { sessionId: "" }, prompt: "x", isInteractive: false });
    expect(await bus.find({ type: "permission_response" })).toMatchObject({ resolution: "auto" });
    expect(bus.events.some(({ type }) => type === "permission_request")).toBe(false);
  });
});

function started(
  script: readonly ScriptEntry[],
  settings: Record<string, unknown> = {},
): Promise<RuntimeFixture> {
  return RuntimeFixture.create({
    script,
    settings: { permissions: { run_everything: true }, ...settings },
  });
}

function call(id: string, name: string, input: Record<string, unknown>): ScriptEntry {
  return { tool_calls: [{ id, name, input }] };
}

async function spawned({ runtime }: RuntimeFixture): Promise<string> {
  const { agentId } = await runtime.spawnAgent({ session: { sessionId: "" }, prompt: "x" });
  await runtime.waitAgent({ sessionId: "", agentIds: [agentId] });
  return agentId;
}

async function untilRequests({ models, clock }: RuntimeFixture, count: number): Promise<void> {
  while (models.requests.length < count) await clock.advance(0);
}

function brief({ type, ...event }: Payload): string {
  const detail = event["mode"] ?? event["status"] ?? event["text"] ?? event["reason"];
  return typeof detail === "string" ? `${type} ${detail}` : type;
}
