import { describe, expect, it } from "vitest";
import { outline, Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";

const bash = (id: string) => ({ id, name: "Bash", input: { command: "echo hi" } });
const head = { type: "server.connected" };

describe("a subscription", () => {
  it("begins with what there is and says when nothing happens", async () => {
    await using fixture = await RuntimeFixture.create();
    const bus = await fixture.subscribe();
    const { sessionId } = await fixture.runtime.listModels("");
    expect(await bus.find(head)).toMatchObject({
      properties: {
        session_id: sessionId,
        seq: 0,
        model: "script",
        mode: "agent",
        busy: false,
        version: "1.2.3",
      },
    });
    await fixture.clock.advance(9_999);
    expect(bus.events).toHaveLength(1);
    await fixture.clock.advance(1);
    expect(await bus.find({ type: "server.heartbeat" })).toMatchObject({
      properties: { session_id: sessionId, seq: 0, model: "script" },
    });
    await fixture.clock.advance(20_000);
    expect(bus.events).toHaveLength(4);
  });

  it("carries the same events as the sender's stream, and the settlements", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1")] }, { text: "ok" }],
    });
    const [one, two] = [await fixture.subscribe(), await fixture.subscribe()];
    const sender = await fixture.send("x");
    await sender.find({ type: "permission_request" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1", isAllowed: true });
    await sender.ended;
    await Promise.all([one.find({ type: "turn_complete" }), two.find({ type: "turn_complete" })]);
    expect(one.events).toEqual(two.events);
    const withoutSettlement = one.events.slice(1).filter(({ type }) => type !== "permission_response");
    expect(sender.events).toEqual(withoutSettlement);
    const numbers = one.events.slice(1).map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it("hears of switches of mode and model", async () => {
    await using fixture = await RuntimeFixture.create();
    const bus = await fixture.subscribe();
    await fixture.runtime.switchMode("", "plan");
    await fixture.runtime.switchMode("", "plan");
    await fixture.runtime.switchModel("", "other");
    await bus.find({ type: "model_change", model_profile: "other" });
    expect(outline(bus.events)).toEqual(["server.connected", "mode_change:plan", "model_change"]);
    expect(bus.events[1]).toMatchObject({ reason: "client" });
    expect(bus.events[1]).not.toHaveProperty("operation_id");
    await expect(fixture.runtime.switchMode("", "")).rejects.toMatchObject({ reason: "MODE_INVALID" });
    await expect(fixture.runtime.switchModel("", "nope")).rejects.toMatchObject({
      reason: "MODEL_NOT_FOUND",
    });
    fixture.models.unusable.add("script");
    await expect(fixture.runtime.switchModel("", "script")).rejects.toMatchObject({
      reason: "PROFILE_UNUSABLE",
    });
    expect((await fixture.runtime.listModels("")).currentModel).toBe("other");
  });

  it("gets open questions again, once, marked as such", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1")] }, { text: "ok" }],
    });
    const sender = await fixture.send("x");
    const asked = await sender.find({ type: "permission_request" });
    const late = await fixture.subscribe();
    expect(await late.find({ type: "permission_request" })).toEqual({ ...asked, replayed: true });
    const resumed = await fixture.subscribe("0");
    await resumed.find({ type: "permission_request" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1", isAllowed: true });
    await resumed.find({ type: "turn_complete" });
    const requests = resumed.events.filter(({ type }) => type === "permission_request");
    expect(requests).toEqual([asked]);
  });

  it("ends without an error when its session is closed", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "never" }] });
    const bus = await fixture.subscribe();
    const sender = await fixture.send("x");
    await sender.find({ type: "stream_mode" });
    await fixture.runtime.closeSession("");
    expect(outline(await bus.all()).at(-1)).toBe("turn_complete:interrupted");
    expect(outline(await sender.all()).at(-1)).toBe("turn_complete:interrupted");
  });

  it("ends with an error when the runtime closes, which refuses new calls", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "never" }] });
    const bus = await fixture.subscribe();
    const all = await fixture.watch({ sessionId: "" });
    const first = await fixture.send("x");
    const second = await fixture.send("y");
    await first.find({ type: "stream_mode" });
    await fixture.runtime.close();
    await expect(bus.ended).rejects.toMatchObject({ reason: "SHUTTING_DOWN", kind: "unavailable" });
    await expect(all.ended).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
    await expect(second.ended).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
    expect(outline(await first.all()).at(-1)).toBe("turn_complete:interrupted");
    await expect(fixture.send("z")).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
    await expect(fixture.watch({ sessionId: "" })).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
    expect(fixture.clock.pendingTimers).toBe(0);
  });
});

describe("a cursor", () => {
  it("continues after it, with and without its epoch", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }, { text: "b" }] });
    const sender = await fixture.send("x");
    await sender.ended;
    const epoch = sender.events[0]?.["epoch"];
    for (const cursor of ["1", `${String(epoch)}:1`]) {
      const bus = await fixture.subscribe(cursor);
      await bus.find({ type: "turn_complete" });
      expect(bus.events.map(({ seq }) => seq)).toEqual([undefined, 2, 3, 4]);
      expect(bus.events[0]).toMatchObject({ properties: { seq: 4 } });
    }
    const bus = await fixture.subscribe("3");
    await (await fixture.send("y")).ended;
    await bus.find({ type: "turn_complete" }, 2);
    expect(bus.events.map(({ seq }) => seq)).toEqual([undefined, 4, 5, 6, 7, 8]);
  });

  it("of another numbering, or ahead of this one, starts with a gap", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    await (await fixture.send("x")).ended;
    for (const [cursor, previous] of [
      ["old:2", "old"],
      ["99", null],
    ]) {
      const bus = await fixture.subscribe(cursor ?? "");
      await bus.find({ type: "turn_complete" });
      expect(bus.events.map(({ seq }) => seq)).toEqual([undefined, undefined, 1, 2, 3, 4]);
      expect(bus.events[1]).toMatchObject({
        type: "server.gap",
        properties: { from_seq: 0, to_seq: 0, reason: "epoch", previous_epoch: previous },
      });
    }
  });

  it("before the oldest kept event says what is missing", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: ["a", "b", "c", "d", "e", "f"] }],
      runtime: { eventRetention: { maxEvents: 4 } },
    });
    await (await fixture.send("x")).ended;
    const bus = await fixture.subscribe("2");
    await bus.find({ type: "turn_complete" });
    expect(bus.events.map(({ seq }) => seq)).toEqual([undefined, undefined, 6, 7, 8, 9]);
    expect(bus.events[1]).toMatchObject({ properties: { from_seq: 3, to_seq: 5, reason: "retention" } });
  });

  it.each([
    ["-1", "s1"],
    ["5,6", "s1"],
    ["s2=5", "s1"],
    ["9007199254740992", "s1"],
    ["a b:5", "s1"],
    ["5", ""],
    ["s1=1,s1=2", ""],
  ])("%s for session '%s' is refused", async (afterSeq, sessionId) => {
    await using fixture = await RuntimeFixture.create();
    await fixture.runtime.subscribe({ session: { sessionId: "s1", create: true } });
    await expect(fixture.watch({ sessionId, afterSeq })).rejects.toMatchObject({ reason: "CURSOR_INVALID" });
  });
});

describe("a subscription to all sessions", () => {
  it("carries loaded sessions, later ones, and continues each from its own cursor", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: "a" }, { text: "b" }, { text: "c" }],
    });
    const s1 = { sessionId: "s1", create: true };
    const s2 = { sessionId: "s2", create: true };
    await (await fixture.send("x", { session: s1 })).ended;
    const all = await fixture.watch({ sessionId: "", afterSeq: "s1=3, gone=7" });
    expect(await all.find(head)).toMatchObject({
      properties: { session_id: null, sessions: { s1: { seq: 4, busy: false } } },
    });
    expect(await all.find({ type: "server.gap" })).toMatchObject({
      properties: { session_id: "gone", reason: "session_gone", from_seq: 0, to_seq: 0 },
    });
    await all.find({ type: "turn_complete", session_id: "s1", seq: 4 });
    await (await fixture.send("y", { session: s2 })).ended;
    await all.find({ type: "turn_complete", session_id: "s2" });
    const ofSecond = all.events.filter(({ session_id }) => session_id === "s2").map(({ seq }) => seq);
    expect(ofSecond).toEqual([1, 2, 3, 4]);
    all.leave();
    await all.ended;
  });
});

describe("a slow reader", () => {
  it("item 16: costs no turn anything and gets everything afterwards, texts merged", async () => {
    const pieces = Array.from({ length: 3000 }, (_, index) => `${index} `);
    await using fixture = await RuntimeFixture.create({ script: [{ text: pieces }] });
    const { sessionId } = await fixture.runtime.listModels("");
    const { events } = await fixture.runtime.subscribe({ session: { sessionId } });
    const sender = await fixture.send("x");
    await sender.ended;
    expect(sender.events).toHaveLength(3003);
    const slow = new Reader(events);
    await slow.find({ type: "turn_complete" });
    const texts = slow.events.filter(({ type }) => type === "stream_text");
    expect(texts.map(({ text }) => text).join("")).toBe(pieces.join(""));
    expect(texts.length).toBeLessThan(100);
    let expectedSeq = 1;
    for (const event of slow.events.slice(1)) {
      expect(event["seq_from"] ?? event.seq).toBe(expectedSeq);
      expectedSeq = (event.seq ?? 0) + 1;
    }
    expect(expectedSeq).toBe(3004);
  });

  it("of a turn is cut off two minutes after its end", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const bus = await fixture.subscribe();
    const { events } = await fixture.runtime.sendMessage({ session: { sessionId: "" }, text: "x" });
    await bus.find({ type: "turn_complete" });
    await fixture.clock.advance(120_000);
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: "READER_STALLED" });
  });

  it("is told what was removed while it was behind", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: Array.from({ length: 1100 }, () => "a") }],
      runtime: { eventRetention: { maxEvents: 100 } },
    });
    const { sessionId } = await fixture.runtime.listModels("");
    const { events } = await fixture.runtime.subscribe({ session: { sessionId } });
    await (await fixture.send("x")).ended;
    const slow = new Reader(events);
    await slow.find({ type: "turn_complete" });
    expect(slow.events[1]).toMatchObject({
      type: "server.gap",
      properties: { from_seq: 1, to_seq: 1003, reason: "retention" },
    });
    expect(slow.events[2]).toMatchObject({ seq_from: 1004, type: "stream_text" });
  });
});
