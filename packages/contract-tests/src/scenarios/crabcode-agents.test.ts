import { Code, createClient } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { AgentService } from "@trivium/proto/crabcode-agents";
import { expect } from "vitest";
import { statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

useServer();

const createSession = { headers: { "crabcode-create-session": "1" } };

verifies("spawn-agent:runs", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const request = { sessionId: uniqueName, prompt: "help\nplease", subagentType: "explore" };
  const { agentId } = await client.spawnAgent(request, createSession);
  const agent = await client.waitAgent({ agentIds: [agentId], timeoutMs: 20_000 });
  expect(agent).toMatchObject({
    agentId,
    sessionId: uniqueName,
    status: "completed",
    title: "help",
    subagentType: "explore",
    callbackState: "disabled",
  });
  expect(agent.finalResult).toMatch(/^\[offline mode/);
  expect(agent.finishedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(await client.getAgent({ agentId })).toEqual(agent);
});

verifies("spawn-agent:events", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const abort = new AbortController();
  const states: unknown[] = [];
  for await (const { type, payloadJson } of client.subscribeEvents(
    { sessionId: uniqueName },
    { ...createSession, signal: abort.signal },
  )) {
    if (type === "server.connected") await client.spawnAgent({ sessionId: uniqueName, prompt: "help" });
    if (type !== "agent_state") continue;
    const payload = JSON.parse(payloadJson) as Record<string, unknown>;
    expect(payload["operation_scope"]).toBe("background");
    states.push(payload["status"]);
    if (payload["status"] === "completed") break;
  }
  abort.abort();
  expect(states).toEqual(["queued", "running", "completed"]);
});

verifies("spawn-agent:callback", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const abort = new AbortController();
  let agentId = "";
  for await (const { type } of client.subscribeEvents(
    { sessionId: uniqueName },
    { ...createSession, signal: abort.signal },
  )) {
    if (type === "server.connected") {
      ({ agentId } = await client.spawnAgent({ sessionId: uniqueName, prompt: "help", callback: true }));
    }
    if (type === "turn_complete") break;
  }
  abort.abort();
  const agent = await client.getAgent({ agentId });
  expect(agent).toMatchObject({ callbackState: "delivered", callbackEpoch: 0 });
  expect(agent.callbackMessageId).toMatch(/^[0-9a-f-]{36}$/);
});

verifies("spawn-agent:refusals", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  await client.listAgents({});
  for (const request of [{ prompt: " " }, { prompt: "x", subagentType: "explorer" }]) {
    expect(await statusOf(client.spawnAgent(request))).toMatchObject({ code: Code.InvalidArgument });
  }
  const nowhere = { prompt: "x", sessionId: uniqueName };
  expect(await statusOf(client.spawnAgent(nowhere))).toMatchObject({ code: Code.NotFound });
});

verifies("get-agent:unknown", async ({ transport }) => {
  const client = createClient(CrabCodeService, transport);
  const agentId = "00000000-0000-4000-8000-000000000000";
  const calls = [
    () => client.getAgent({ agentId }),
    () => client.cancelAgent({ agentId }),
    () => client.waitAgent({ agentIds: [agentId] }),
  ];
  for (const call of calls) expect(await statusOf(call())).toMatchObject({ code: Code.NotFound });
});

verifies("list-agents:newest-first", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const first = await client.spawnAgent({ sessionId: uniqueName, prompt: "help" }, createSession);
  const second = await client.spawnAgent({ sessionId: uniqueName, prompt: "help" });
  const { agents } = await client.listAgents({ sessionId: uniqueName });
  expect(agents.map(({ agentId }) => agentId)).toEqual([second.agentId, first.agentId]);
});

verifies("cancel-agent:ended", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const { agentId } = await client.spawnAgent({ sessionId: uniqueName, prompt: "help" }, createSession);
  await client.waitAgent({ agentIds: [agentId], timeoutMs: 20_000 });
  expect(await client.cancelAgent({ agentId })).toMatchObject({ ok: false });
});

verifies("send-agent-input:next-run", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const inputs = createClient(AgentService, transport);
  const { agentId } = await client.spawnAgent({ sessionId: uniqueName, prompt: "help" }, createSession);
  await client.waitAgent({ agentIds: [agentId], timeoutMs: 20_000 });
  expect(await inputs.sendAgentInput({ agentId, prompt: "help" })).toMatchObject({ callbackEpoch: 1 });
  expect(await client.waitAgent({ agentIds: [agentId], timeoutMs: 20_000 })).toMatchObject({
    status: "completed",
    callbackEpoch: 1,
  });
  expect(await statusOf(inputs.sendAgentInput({ agentId, prompt: " " }))).toMatchObject({
    code: Code.InvalidArgument,
  });
});
