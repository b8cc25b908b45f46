import { MemoryEventLogStore, silentLogger } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { SessionEventBus } from "../events/session-event-bus.ts";
import { QuestionRegistry } from "./question-registry.ts";

const request = (toolUseId: string, agentId: string | null = null) => ({
  type: "permission_request" as const,
  tool_name: "Bash",
  tool_input: {},
  tool_use_id: toolUseId,
  reason: null,
  permission_key: "Bash",
  agent_id: agentId,
  request_kind: "tool" as const,
});

async function createRegistry(settledKeys: readonly string[] = []) {
  const clock = new ManualClock();
  const log = await new MemoryEventLogStore({ clock }).open("s1");
  const bus = new SessionEventBus({ sessionId: "s1", log, clock, logger: silentLogger });
  const stored: string[] = [];
  const journal = {
    settled: (agentId: string | null, id: string) => void stored.push(`${agentId ?? ""}|${id}`),
  };
  return { registry: new QuestionRegistry({ bus, clock, journal, settledKeys }), bus, clock, stored };
}

const answer = (toolUseId: string, agentId?: string) => ({
  sessionId: "s1",
  toolUseId,
  isAllowed: true,
  ...(agentId !== undefined && { agentId }),
});

describe("QuestionRegistry", () => {
  it("settles once when an answer and an interrupt come together", async () => {
    const { registry, bus, clock, stored } = await createRegistry();
    const controller = new AbortController();
    const options = { operation: {}, signal: controller.signal, timeoutMs: 1000 };
    const verdict = registry.askPermission(request("c1"), options);
    registry.answerPermission(answer("c1"));
    controller.abort();
    expect(await verdict).toMatchObject({ isAllowed: true, resolution: "answered" });
    await bus.flush();
    const responses = (await bus.readFrom(0, 10)).filter(({ type }) => type === "permission_response");
    expect(responses).toHaveLength(1);
    expect(stored).toEqual(["|c1"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("item 5: finds the one agent that asks, prefers the main loop, and refuses to guess", async () => {
    const { registry } = await createRegistry();
    const options = { operation: {}, signal: new AbortController().signal, timeoutMs: 0 };
    const ofAgent = registry.askPermission(request("x", "a1"), options);
    registry.answerPermission(answer("x"));
    expect((await ofAgent).isAllowed).toBe(true);
    const first = registry.askPermission(request("y", "a1"), options);
    const second = registry.askPermission(request("y", "a2"), options);
    expect(() => registry.answerPermission(answer("y"))).toThrow(
      expect.objectContaining({ reason: "REQUEST_AMBIGUOUS" }),
    );
    const main = registry.askPermission(request("y"), options);
    registry.answerPermission(answer("y"));
    await main;
    registry.answerPermission(answer("y", "a2"));
    await second;
    registry.answerPermission(answer("y", "a1"));
    await first;
    expect(registry.pendingCount).toBe(0);
  });

  it("remembers settled questions of an earlier process", async () => {
    const { registry } = await createRegistry(["|old"]);
    expect(() => registry.answerPermission(answer("old"))).toThrow(
      expect.objectContaining({ reason: "REQUEST_ALREADY_ANSWERED" }),
    );
  });
});
