import { TriviumError } from "@trivium/core";
import { describe, expect, it } from "vitest";
import { outline, RuntimeFixture } from "../testing/runtime-fixture.ts";

const bash = (id: string, command: string) => ({ id, name: "Bash", input: { command } });
const bypass = { permissions: { run_everything: true } };

describe("cancelling a call", () => {
  it("interrupts its turn and keeps the text as a partial answer", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: ["one ", "two"], hold: "never", hold_after_chunks: 1 }, { text: "fresh" }],
    });
    const bus = await fixture.subscribe();
    const cancel = new AbortController();
    const reader = await fixture.send("x", { signal: cancel.signal });
    await reader.find({ type: "stream_text" });
    cancel.abort();
    await bus.find({ type: "turn_complete" });
    expect(outline(bus.events).slice(1)).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:one ",
      "turn_complete:interrupted",
    ]);
    await reader.ended;
    await (await fixture.send("y")).ended;
    expect(fixture.models.requests[1]?.messages[2]).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "one " }],
      origin: "partial",
    });
  });

  it("ends the turn within a second although a tool does not stop", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "sleep 30"), bash("c2", "echo b")] }, { text: "ok" }],
      settings: bypass,
    });
    const started = Promise.withResolvers<void>();
    const late = Promise.withResolvers<{ stdout: string }>();
    fixture.toolbox.onCommand = () => {
      started.resolve();
      return late.promise;
    };
    const bus = await fixture.subscribe();
    const cancel = new AbortController();
    await fixture.send("x", { signal: cancel.signal });
    await started.promise;
    cancel.abort();
    await fixture.clock.advance(1000);
    await bus.find({ type: "turn_complete", reason: "interrupted" });
    late.resolve({ stdout: "too late" });
    const results = bus.events.filter(({ type }) => type === "tool_result");
    expect(results.map(({ tool_use_id, result }) => [tool_use_id, result])).toEqual([
      ["c1", "Interrupted"],
      ["c2", "Interrupted"],
    ]);
    fixture.toolbox.onCommand = undefined;
    await (await fixture.send("y")).ended;
    expect(fixture.models.requests[1]?.messages[3]?.content).toMatchObject([
      { type: "tool_result", tool_use_id: "c1", content: "Interrupted" },
      { type: "tool_result", tool_use_id: "c2", content: "Interrupted" },
    ]);
    expect(fixture.toolbox.commands).toEqual(["sleep 30"]);
  });

  it("settles an open question as cancelled", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ tool_calls: [bash("c1", "echo a")] }] });
    const bus = await fixture.subscribe();
    const cancel = new AbortController();
    const reader = await fixture.send("x", { signal: cancel.signal });
    await reader.find({ type: "permission_request" });
    cancel.abort();
    await bus.find({ type: "turn_complete" });
    expect(outline(bus.events).slice(-4)).toEqual([
      "permission_request:c1",
      "permission_response:c1",
      "tool_result:c1",
      "turn_complete:interrupted",
    ]);
    expect(await bus.find({ type: "permission_response" })).toMatchObject({
      allowed: false,
      resolution: "cancelled",
    });
    expect(fixture.clock.pendingTimers).toBe(1); // the heartbeat of the subscription
  });

  it("by leaving the loop over its events interrupts too", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: ["a", "b"], hold: "never", hold_after_chunks: 1 }],
    });
    const bus = await fixture.subscribe();
    const { events } = await fixture.runtime.sendMessage({ session: { sessionId: "" }, text: "x" });
    for await (const { type } of events) if (type === "stream_text") break;
    await bus.find({ type: "turn_complete", reason: "interrupted" });
  });

  it("does nothing to a detached turn", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "go" }] });
    const bus = await fixture.subscribe();
    const cancel = new AbortController();
    const reader = await fixture.send("x", { signal: cancel.signal, isDetached: true });
    await reader.find({ type: "stream_mode" });
    cancel.abort();
    fixture.models.release("go");
    await bus.find({ type: "turn_complete", reason: "end_turn" });
  });

  it("takes a queued message away without a trace", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: "first", hold: "one" }, { text: "third" }],
    });
    const bus = await fixture.subscribe();
    await fixture.send("1");
    const cancel = new AbortController();
    const second = await fixture.send("2", { signal: cancel.signal });
    await second.find({ type: "server.heartbeat" });
    cancel.abort();
    await second.ended;
    const third = await fixture.send("3");
    fixture.models.release("one");
    await third.ended;
    await bus.find({ type: "turn_complete" }, 2);
    expect(bus.events.filter(({ type }) => type === "turn_complete")).toHaveLength(2);
    expect(JSON.stringify(fixture.models.requests[1]?.messages)).not.toContain('"text":"2"');
  });
});

describe("interruptTurn", () => {
  it("item 15: resolves after turn_complete and leaves queued messages alone", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: "a", hold: "never" }, { text: "b" }],
    });
    const bus = await fixture.subscribe();
    const first = await fixture.send("1");
    const second = await fixture.send("2");
    await first.find({ type: "stream_mode" });
    const { isInterrupted, operationId } = await fixture.runtime.interruptTurn("");
    expect(isInterrupted).toBe(true);
    expect(await bus.find({ type: "turn_complete" })).toMatchObject({
      reason: "interrupted",
      operation_id: operationId,
    });
    expect(outline(await second.all()).at(-1)).toBe("turn_complete:end_turn");
    expect(await fixture.runtime.interruptTurn("")).toMatchObject({ isInterrupted: false, operationId: "" });
  });
});

describe("a lost connection", () => {
  const lost = (): TriviumError => new TriviumError("unavailable", "the connection was lost");

  it("lets a turn go on whose reader was cut off because it did not read", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "go" }] });
    const bus = await fixture.subscribe();
    const connection = new AbortController();
    const reader = await fixture.send("x", { signal: connection.signal });
    await reader.find({ type: "stream_mode" });
    connection.abort(new TriviumError("resourceExhausted", "the client does not read"));
    await fixture.clock.advance(60_000);
    fixture.models.release("go");
    await bus.find({ type: "turn_complete", reason: "end_turn" });
  });

  it("interrupts a turn without a key at once", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "never" }] });
    const bus = await fixture.subscribe();
    const connection = new AbortController();
    const reader = await fixture.send("x", { signal: connection.signal });
    await reader.find({ type: "stream_mode" });
    connection.abort(lost());
    await bus.find({ type: "turn_complete", reason: "interrupted" });
  });

  it("lets a turn with a key wait for the resend, then interrupts it", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { text: "a", hold: "one" },
        { text: "b", hold: "never" },
      ],
    });
    const bus = await fixture.subscribe();
    const connection = new AbortController();
    const first = await fixture.send("x", { signal: connection.signal, idempotencyKey: "k" });
    await first.find({ type: "stream_mode" });
    connection.abort(lost());
    await fixture.clock.advance(29_000);
    const again = await fixture.send("x", { idempotencyKey: "k" });
    await fixture.clock.advance(60_000);
    fixture.models.release("one");
    expect(outline(await again.all())).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:a",
      "turn_complete:end_turn",
    ]);
    const second = new AbortController();
    const reader = await fixture.send("y", { signal: second.signal, idempotencyKey: "k2" });
    await reader.find({ type: "stream_mode" });
    second.abort(lost());
    await fixture.clock.advance(29_999);
    expect(bus.events.filter(({ type }) => type === "turn_complete")).toHaveLength(1);
    await fixture.clock.advance(1);
    await bus.find({ type: "turn_complete", reason: "interrupted" });
  });
});

describe("closing the runtime with time to drain", () => {
  const script = [{ text: ["one ", "two"], hold: "gate", hold_after_chunks: 1 }];

  it("lets a running turn finish", async () => {
    await using fixture = await RuntimeFixture.create({ script });
    const reader = await fixture.send("x");
    await reader.find({ type: "stream_text" });
    const closing = fixture.runtime.close({ drainMs: 5_000 });
    fixture.models.release("gate");
    await reader.find({ type: "turn_complete", reason: "end_turn" });
    await closing;
    await reader.ended;
  });

  it("interrupts it when the time is over", async () => {
    await using fixture = await RuntimeFixture.create({ script });
    const reader = await fixture.send("x");
    await reader.find({ type: "stream_text" });
    const closing = fixture.runtime.close({ drainMs: 5_000 });
    await fixture.clock.advance(4_999);
    expect(reader.events.some(({ type }) => type === "turn_complete")).toBe(false);
    await fixture.clock.advance(1);
    await reader.find({ type: "turn_complete", reason: "interrupted" });
    await closing;
  });
});
