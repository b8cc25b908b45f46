import { ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentService } from "@trivium/proto/crabcode-agents";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { describe, expect, it } from "vitest";
import { agentService } from "./agent-service.ts";
import { liveService, StreamReader, statusOf } from "./testing/live-service.ts";

describe("the RPCs of agents", () => {
  it("spawn, wait, get and list, with the resolved session in the headers", async () => {
    await using service = await liveService([{ agent: 1, text: "12 files" }]);
    const { client } = service;
    let header = new Headers();
    const onHeader = (headers: Headers): void => {
      header = headers;
    };
    const request = { prompt: "count", subagentType: "explore", name: "Counting" };
    const { agentId } = await client.spawnAgent(request, { onHeader });
    const sessionId = header.get("crabcode-session-id");
    const agent = await client.waitAgent({ agentIds: [agentId], timeoutMs: 10_000 });
    expect(agent).toMatchObject({
      agentId,
      sessionId,
      title: "Counting",
      subagentType: "explore",
      status: "completed",
      finalResult: "12 files",
      usage: { input_tokens: 10n, output_tokens: 5n },
      callbackEnabled: false,
      callbackState: "disabled",
    });
    expect(agent.parentAgentId).toBeUndefined();
    expect(await client.getAgent({ agentId })).toEqual(agent);
    expect((await client.listAgents({})).agents).toEqual([agent]);
    expect(await client.cancelAgent({ agentId })).toMatchObject({ ok: false });
  });

  it("join a repeated spawn through its key", async () => {
    await using service = await liveService([{ agent: 1, text: "a" }]);
    const headers = { "idempotency-key": "k" };
    let header = new Headers();
    const { agentId } = await service.client.spawnAgent({ prompt: "p" }, { headers });
    const again = await service.client.spawnAgent(
      { prompt: "p" },
      { headers, onHeader: (value) => void (header = value) },
    );
    expect(again.agentId).toBe(agentId);
    expect(header.get("trivium-idempotent-replay")).toBe("1");
    expect(await statusOf(service.client.spawnAgent({ prompt: "q" }, { headers }))).toEqual({
      code: "InvalidArgument",
      reason: "IDEMPOTENCY_MISMATCH",
    });
  });

  it("say why they refuse", async () => {
    await using service = await liveService([{ agent: 1, text: "a", hold: "a" }]);
    const { client } = service;
    const { agentId } = await client.spawnAgent({ prompt: "p" });
    const refusals: [() => Promise<unknown>, string, string][] = [
      [() => client.spawnAgent({ prompt: " " }), "InvalidArgument", "EMPTY_TEXT"],
      [
        () => client.spawnAgent({ prompt: "x", subagentType: "nope" }),
        "InvalidArgument",
        "SUBAGENT_TYPE_UNKNOWN",
      ],
      [() => client.spawnAgent({ prompt: "x", modelProfile: "no" }), "InvalidArgument", "PROFILE_NOT_FOUND"],
      [
        () => client.spawnAgent({ prompt: "x", modelProfile: "keyless" }),
        "FailedPrecondition",
        "PROFILE_UNUSABLE",
      ],
      [() => client.getAgent({}), "InvalidArgument", "FIELD_INVALID"],
      [() => client.getAgent({ agentId: "nope" }), "NotFound", "AGENT_NOT_FOUND"],
      [() => client.getAgent({ agentId, sessionId: "nope" }), "NotFound", "SESSION_NOT_FOUND"],
      [() => client.cancelAgent({ agentId: "nope" }), "NotFound", "AGENT_NOT_FOUND"],
      [() => client.listAgents({ sessionId: "nope" }), "NotFound", "SESSION_NOT_FOUND"],
      [() => client.waitAgent({}), "InvalidArgument", "FIELD_INVALID"],
      [() => client.waitAgent({ agentIds: [agentId], timeoutMs: 0 }), "DeadlineExceeded", "WAIT_TIMEOUT"],
      [() => client.waitAgent({ agentIds: [agentId], timeoutMs: -5 }), "DeadlineExceeded", "WAIT_TIMEOUT"],
    ];
    for (const [call, code, reason] of refusals) expect(await statusOf(call())).toEqual({ code, reason });
  });

  it("settle a question as refused at once when nobody answers for the agent", async () => {
    await using service = await liveService([
      { agent: 1, tool_calls: [{ id: "x1", name: "Bash", input: { command: "ls" } }] },
      { agent: 1, text: "ok" },
    ]);
    const { client } = service;
    await client.listModels({});
    const bus = new StreamReader((options) => client.subscribeEvents({}, options));
    await bus.find({ type: "server.connected" });
    await client.spawnAgent({ prompt: "p" }, { headers: { "crabcode-interactive": "0" } });
    expect(await bus.find({ type: "permission_response" })).toMatchObject({ resolution: "auto" });
    bus.cancel();
  });
});

describe("AgentService", () => {
  it("gives an ended agent more to do; its reasons have the domain of our services", async () => {
    await using service = await liveService([
      { agent: 1, text: "one" },
      { agent: 1, text: "two" },
    ]);
    const { client, runtime } = service;
    const inputs = createClient(AgentService, createRouterTransport(agentService({ runtime })));
    const { agentId } = await client.spawnAgent({ prompt: "p" });
    await client.waitAgent({ agentIds: [agentId] });
    const headers = { "idempotency-key": "k" };
    const request = { agentId, prompt: "more" };
    expect(await inputs.sendAgentInput(request, { headers })).toMatchObject({ callbackEpoch: 1 });
    expect(await inputs.sendAgentInput(request, { headers })).toMatchObject({ callbackEpoch: 1 });
    expect(await client.waitAgent({ agentIds: [agentId] })).toMatchObject({ finalResult: "two" });
    const refused = await inputs
      .sendAgentInput({ agentId, prompt: " " })
      .catch((error: unknown) => ConnectError.from(error));
    expect(refused).toBeInstanceOf(ConnectError);
    if (!(refused instanceof ConnectError)) return;
    expect(refused.findDetails(ErrorInfoSchema)).toMatchObject([{ domain: "trivium", reason: "EMPTY_TEXT" }]);
  });
});
