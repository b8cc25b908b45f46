import { describe, expect, it } from "vitest";
import { createSessionHarness, settle, subscribe, tool } from "../testing/session-harness.ts";

const tools = [
  tool("echo"),
  tool("other"),
  tool("deep", "ns"),
  tool("plain", "functions"),
  tool("empty", ""),
];

describe("routing", () => {
  it("goes round among the subscriptions that take the call", async () => {
    const { session, start } = createSessionHarness();
    const [first, second, unrelated] = [
      subscribe(session),
      subscribe(session, [{ name: "echo", namespace: undefined }]),
      subscribe(session, [{ name: "other", namespace: undefined }]),
    ];
    const { cell } = start({ tools });
    for (let index = 1; index <= 5; index++) cell.call(`tool-${index}`, "echo", String(index));
    await settle();
    expect(first.map(({ sequence }) => sequence)).toEqual([1, 3, 5]);
    expect(second.map(({ sequence }) => sequence)).toEqual([2, 4]);
    expect(unrelated).toEqual([]);
  });

  it.each([
    ["deep", { name: "deep", namespace: "ns" }, true],
    ["deep", { name: "deep", namespace: undefined }, false],
    ["plain", { name: "plain", namespace: undefined }, true],
    ["empty", { name: "empty", namespace: "functions" }, true],
    ["echo", { name: "echo", namespace: "ns" }, false],
  ])("compares the canonical name of %s with %j", async (name, filter, isTaken) => {
    const { session, start } = createSessionHarness();
    const calls = subscribe(session, [filter]);
    const { cell } = start({ tools });
    cell.call("tool-1", name);
    await settle();
    expect(calls).toHaveLength(isTaken ? 1 : 0);
    expect(cell.settled).toHaveLength(isTaken ? 0 : 1);
  });

  it("rejects a call that nobody takes, for good", async () => {
    const { session, start } = createSessionHarness();
    const { cell } = start({ tools });
    cell.call("tool-1", "echo");
    const calls = subscribe(session);
    cell.call("tool-2", "echo");
    await settle();
    expect(cell.settled).toMatchObject([
      { toolCallId: "tool-1", message: expect.stringMatching(/subscription/) },
    ]);
    expect(calls).toMatchObject([{ toolCallId: "tool-2", sequence: 1 }]);
  });

  it("rejects a call past the capacity and one that fits in no message", async () => {
    const { session, start } = createSessionHarness({
      maxPendingCalls: 1,
      limits: { maxMessageBytes: 1000 },
    });
    const calls = subscribe(session);
    const { cell } = start({ tools });
    cell.call("tool-1", "echo", `"${"x".repeat(1000)}"`);
    cell.call("tool-2", "echo");
    cell.call("tool-3", "echo");
    await settle();
    expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(["tool-2"]);
    expect(cell.settled).toMatchObject([
      { toolCallId: "tool-1", message: expect.stringMatching(/1000/) },
      { toolCallId: "tool-3", message: expect.stringMatching(/pending/) },
    ]);
  });

  it("rejects a call past the bytes that nobody has read, held ones and those on their way", async () => {
    const { session, start } = createSessionHarness({
      limits: { subscriptionBacklog: 2, maxToolCallBacklogBytes: 5000 },
    });
    const events = session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    const { cell } = start({ tools });
    const input = `"${"x".repeat(1000)}"`;
    for (let index = 1; index <= 5; index++) cell.call(`tool-${index}`, "echo", input);
    expect(cell.settled).toMatchObject([
      { toolCallId: "tool-5", message: expect.stringMatching(/unread.*5000 bytes/) },
    ]);
    await events.next();
    cell.call("tool-6", "echo", input);
    cell.call("tool-7", "echo", input);
    expect(cell.settled).toMatchObject([{ toolCallId: "tool-5" }, { toolCallId: "tool-7" }]);
  });

  it("holds calls back while the reader is behind, in order, and counts them as pending", async () => {
    const { session, start } = createSessionHarness({
      limits: { subscriptionBacklog: 2 },
      maxPendingCalls: 4,
    });
    const events = session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    const { cell } = start({ tools });
    for (let index = 1; index <= 5; index++) cell.call(`tool-${index}`, "echo");
    expect(cell.settled).toMatchObject([{ toolCallId: "tool-5" }]);
    expect(events.size).toBe(2);
    const taken: unknown[] = [];
    for (let index = 0; index < 4; index++) taken.push((await events.next()).value);
    expect(taken).toMatchObject([
      { call: { toolCallId: "tool-1", sequence: 1 } },
      { call: { toolCallId: "tool-2", sequence: 2 } },
      { call: { toolCallId: "tool-3", sequence: 3 } },
      { call: { toolCallId: "tool-4", sequence: 4 } },
    ]);
  });

  it("gives held calls to a subscription that comes later", async () => {
    const { session, start } = createSessionHarness({ limits: { subscriptionBacklog: 1 } });
    session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    const { cell } = start({ tools });
    cell.call("tool-1", "echo");
    cell.call("tool-2", "echo");
    const late = subscribe(session);
    await settle();
    expect(late).toMatchObject([{ toolCallId: "tool-2" }]);
  });

  it("refuses more subscriptions than a session may have", () => {
    const { session } = createSessionHarness({ limits: { maxSubscriptions: 1 } });
    subscribe(session);
    expect(() => session.subscribe({ tools: [], heartbeatIntervalMs: 0 })).toThrow(/subscriptions/);
  });
});

describe("completion", () => {
  it("counts once: later results are ignored, unknown ids are not found", async () => {
    const { session, start } = createSessionHarness();
    const calls = subscribe(session);
    const { cell } = start({ tools });
    cell.call("tool-1", "echo");
    await settle();
    const invocationId = calls[0]?.invocationId ?? "";
    session.completeToolCall(invocationId, { type: "succeeded", outputJson: "1" });
    session.completeToolCall(invocationId, { type: "failed", message: "late" });
    expect(cell.settled).toEqual([{ toolCallId: "tool-1", json: "1" }]);
    expect(() => session.completeToolCall("unknown", { type: "failed", message: "" })).toThrow(/unknown/);
  });

  it("of a call whose cell has ended is ignored", async () => {
    const { session, start, events } = createSessionHarness();
    const calls = subscribe(session);
    const { cell } = start({ tools });
    cell.call("tool-1", "echo");
    cell.call("tool-2", "other");
    cell.complete();
    await settle();
    const [one, two] = calls.map(({ invocationId }) => invocationId);
    expect(events).toEqual([
      { type: "tool-call-cancelled", invocationId: one },
      { type: "tool-call-cancelled", invocationId: two },
      { type: "cell-closed", executionId: "e1", cellId: "1", finalToolCallSequence: 2 },
    ]);
    session.completeToolCall(one ?? "", { type: "succeeded", outputJson: "1" });
    expect(cell.settled).toEqual([]);
  });

  it("of a held call never happens when its cell ends: it was not given out", async () => {
    const { session, start, events } = createSessionHarness({ limits: { subscriptionBacklog: 1 } });
    const stream = session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    const { cell } = start({ tools });
    cell.call("tool-1", "echo");
    cell.call("tool-2", "echo");
    cell.complete();
    await stream.next();
    await settle();
    expect(stream.size).toBe(0);
    expect(events).toMatchObject([
      { type: "tool-call-cancelled" },
      { type: "cell-closed", finalToolCallSequence: 1 },
    ]);
  });
});

describe("the end of a subscription", () => {
  it("without open calls changes nothing but the routing", async () => {
    const { session, start, runtime } = createSessionHarness();
    const stream = session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    const calls = subscribe(session);
    await stream.return();
    const { cell } = start({ tools });
    cell.call("tool-1", "echo");
    await settle();
    expect(calls).toHaveLength(1);
    expect(runtime.stats().sessions).toBe(1);
  });

  it("with open calls closes the session", async () => {
    const { session, start, runtime } = createSessionHarness();
    const stream = session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    start({ tools }).cell.call("tool-1", "echo");
    await stream.next();
    await stream.return();
    expect(runtime.stats().sessions).toBe(0);
  });

  it("with open calls waits for the grace, in which they can be completed", async () => {
    const { session, start, runtime, clock } = createSessionHarness({ limits: { resubscribeGraceMs: 1000 } });
    const stream = session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    const { cell } = start({ tools });
    cell.call("tool-1", "echo");
    const { value } = await stream.next();
    await stream.return();
    await clock.advance(500);
    const invocationId = value?.type === "tool-called" ? value.call.invocationId : "";
    session.completeToolCall(invocationId, { type: "succeeded", outputJson: "1" });
    await clock.advance(1000);
    expect(runtime.stats().sessions).toBe(1);
    expect(cell.settled).toHaveLength(1);
  });

  it("with open calls closes the session after the grace", async () => {
    const { session, start, runtime, clock } = createSessionHarness({ limits: { resubscribeGraceMs: 1000 } });
    const stream = session.subscribe({ tools: [], heartbeatIntervalMs: 0 });
    start({ tools }).cell.call("tool-1", "echo");
    await stream.next();
    await stream.return();
    await clock.advance(999);
    expect(runtime.stats().sessions).toBe(1);
    await clock.advance(1);
    expect(runtime.stats().sessions).toBe(0);
  });
});
