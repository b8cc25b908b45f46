import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import {
  type AgentSnapshotProto,
  AgentSnapshotProtoSchema,
  CancelAgentResponseSchema,
  CrabCodeService,
  ListAgentsResponseSchema,
  SpawnAgentResponseSchema,
} from "@trivium/proto/crabcode";
import { AgentService, SendAgentInputResponseSchema } from "@trivium/proto/crabcode-agents";
import { describe, expect, it } from "vitest";
import { CrabcodeClient } from "./crabcode-client.ts";

describe("agents of a client", () => {
  it("are spawned with a key of their own and the metadata of their session", async () => {
    const { agents, seen } = connected();
    const options = { sessionId: "s1", create: true, cwd: "/w ö", hasCallback: true, isInteractive: false };
    expect(await agents.spawn("count", options)).toBe("a1");
    const { request, header } = seen[0] ?? {};
    expect(request).toMatchObject({ prompt: "count", sessionId: "s1", callback: true });
    expect(header?.get("idempotency-key")).toMatch(/^[0-9a-f]{32}$/);
    expect(header?.get("crabcode-create-session")).toBe("1");
    expect(header?.get("crabcode-cwd")).toBe("/w%20%C3%B6");
    expect(header?.get("crabcode-interactive")).toBe("0");
  });

  it("come as snapshots with numbers and dates", async () => {
    const { agents } = connected({ usage: { input_tokens: 10n }, parentAgentId: "", status: "cancelled" });
    const agent = await agents.get("a1");
    expect(agent).toMatchObject({
      agentId: "a1",
      usage: { input_tokens: 10 },
      status: "stopped",
      isOver: true,
      parentAgentId: undefined,
      finishedAt: undefined,
      createdAt: new Date("2026-01-01T00:00:00.000Z"),
    });
    expect(await agents.list()).toEqual([agent]);
    expect(await agents.wait("a1", { timeoutMs: 5 })).toEqual(agent);
  });

  it("with more tokens than a number holds are an error", async () => {
    const { agents } = connected({ usage: { input_tokens: 2n ** 53n } });
    await expect(agents.get("a1")).rejects.toMatchObject({ kind: "internal" });
  });

  it("are cancelled and get input", async () => {
    const { agents, seen } = connected();
    expect(await agents.cancel("a1")).toBe(true);
    expect(await agents.sendInput("a1", "more", { interrupt: true })).toBe(3);
    expect(seen.at(-1)?.request).toMatchObject({ agentId: "a1", prompt: "more", interrupt: true });
  });

  it("tell a time-out by its kind", async () => {
    const { agents } = connected();
    await expect(agents.wait(["late"], { timeoutMs: 0 })).rejects.toMatchObject({ kind: "deadlineExceeded" });
  });
});

interface Seen {
  readonly request: object;
  readonly header: Headers;
}

function connected(agent: Partial<AgentSnapshotProto> = {}): {
  agents: CrabcodeClient["agents"];
  seen: Seen[];
} {
  const seen: Seen[] = [];
  const { usage = {}, status = "running", parentAgentId } = agent;
  const snapshot = create(AgentSnapshotProtoSchema, {
    agentId: "a1",
    status,
    usage,
    createdAt: "2026-01-01T00:00:00.000Z",
    ...(parentAgentId !== undefined && { parentAgentId }),
  });
  const transport = createRouterTransport((router) => {
    router.service(CrabCodeService, {
      spawnAgent(request, { requestHeader }) {
        seen.push({ request, header: requestHeader });
        return create(SpawnAgentResponseSchema, { agentId: "a1" });
      },
      getAgent: () => snapshot,
      listAgents: () => create(ListAgentsResponseSchema, { agents: [snapshot] }),
      cancelAgent: () => create(CancelAgentResponseSchema, { ok: true }),
      waitAgent({ agentIds }) {
        if (agentIds.includes("late")) throw new ConnectError("no", Code.DeadlineExceeded);
        return snapshot;
      },
    });
    router.service(AgentService, {
      sendAgentInput(request, { requestHeader }) {
        seen.push({ request, header: requestHeader });
        return create(SendAgentInputResponseSchema, { callbackEpoch: 3 });
      },
    });
  });
  return { agents: new CrabcodeClient(transport).agents, seen };
}
