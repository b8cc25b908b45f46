import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outline, RuntimeFixture } from "../testing/runtime-fixture.ts";
import { TurnQueue } from "./turn-queue.ts";

describe("messages of one session", () => {
  it("item 4: run one after the other, and waiting ones hear at once that they wait", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: "first", hold: "one" }, { text: "second" }],
    });
    const bus = await fixture.subscribe();
    await fixture.send("1");
    const second = await fixture.send("2");
    expect(await second.find({ type: "server.heartbeat" })).toMatchObject({
      properties: { epoch: expect.any(String) },
    });
    fixture.models.release("one");
    expect(outline(await second.all())).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:second",
      "turn_complete:end_turn",
    ]);
    await bus.find({ type: "turn_complete" }, 2);
    expect(outline(bus.events)).toEqual([
      "server.connected",
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:first",
      "turn_complete:end_turn",
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:second",
      "turn_complete:end_turn",
    ]);
  });

  it("wait eight at a time", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ hold: "never", text: "a" }] });
    for (let count = 0; count < 9; count++) await fixture.send("x");
    await expect(fixture.send("x")).rejects.toMatchObject({
      reason: "QUEUE_FULL",
      kind: "resourceExhausted",
    });
  });

  it.each([
    [{ text: " \n" }, "EMPTY_TEXT"],
    [{ text: "a".repeat(1024 * 1024 + 1) }, "TOO_LARGE"],
    [{ text: "x", maxTurns: -1 }, "FIELD_INVALID"],
    [{ text: "x", idempotencyKey: "" }, "IDEMPOTENCY_KEY_INVALID"],
    [{ text: "x", idempotencyKey: "k".repeat(129) }, "IDEMPOTENCY_KEY_INVALID"],
  ])("are refused before they have any effect: %#", async (input, reason) => {
    await using fixture = await RuntimeFixture.create();
    await expect(fixture.send(input.text, input)).rejects.toMatchObject({
      reason,
      sessionId: expect.any(String),
    });
    const bus = await fixture.subscribe();
    expect(await bus.find({ type: "server.connected" })).toMatchObject({
      properties: { seq: 0, busy: false },
    });
  });
});

describe("an idempotency key", () => {
  it("joins a running turn and gets all its events", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: ["Hel", "lo"], hold: "go" }] });
    const first = await fixture.send("hi", { idempotencyKey: "k" });
    await first.find({ type: "stream_mode" });
    const again = await fixture.runtime.sendMessage({
      session: { sessionId: "" },
      text: "hi",
      idempotencyKey: "k",
    });
    expect(again.isReplay).toBe(true);
    fixture.models.release("go");
    const events: unknown[] = [];
    for await (const { payloadJson } of again.events) events.push(JSON.parse(payloadJson));
    expect(events).toEqual(await first.all());
  });

  it("replays an ended turn, also after a restart, and runs nothing again", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "one" }, { text: "two" }] });
    const first = await (await fixture.send("hi", { idempotencyKey: "k" })).all();
    expect(await (await fixture.send("hi", { idempotencyKey: "k" })).all()).toEqual(first);
    await fixture.runtime.close();
    fixture.runtime = fixture.start();
    // The memory log does not outlive close(), so this is about the stored key only.
    const replay = await fixture.runtime
      .sendMessage({ session: { sessionId: "" }, text: "hi", idempotencyKey: "k" })
      .then(({ isReplay }) => isReplay);
    expect(replay).toBe(true);
    expect(fixture.models.requests).toHaveLength(1);
  });

  it("a resend after the turn ends with its turn_complete, however much of the log is gone by then", async () => {
    await using fixture = await RuntimeFixture.create({
      script: Array.from({ length: 9 }, () => ({ text: ["a", "b", "c", "d"] })),
      runtime: { eventRetention: { maxEvents: 16 } },
    });
    const first = await (await fixture.send("first", { idempotencyKey: "k" })).all();
    for (let turn = 0; turn < 8; turn++) await (await fixture.send(`${turn}`)).all();
    const again = await (await fixture.send("first", { idempotencyKey: "k" })).all();
    const { seq = 0 } = first.at(-1) ?? {};
    expect(again).toMatchObject([
      { type: "server.gap", properties: { from_seq: 1, to_seq: seq - 1 } },
      { type: "turn_complete", seq },
    ]);
  });

  it("belongs to one request", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "one" }] });
    await (await fixture.send("hi", { idempotencyKey: "k" })).ended;
    await expect(fixture.send("other", { idempotencyKey: "k" })).rejects.toMatchObject({
      reason: "IDEMPOTENCY_MISMATCH",
    });
  });

  it("is forgotten after 24 hours", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "one" }, { text: "two" }] });
    await (await fixture.send("hi", { idempotencyKey: "k" })).ended;
    await fixture.clock.advance(24 * 3_600_000 + 1);
    const events = await (await fixture.send("hi", { idempotencyKey: "k" })).all();
    expect(outline(events)).toContain("stream_text:two");
  });
});

describe("TurnQueue", () => {
  it("runs every item once, in order, one at a time, whatever is added, removed and finished when", async () => {
    const action = fc.oneof(
      fc.constant("add" as const),
      fc.constant("finish" as const),
      fc.nat({ max: 20 }).map((index) => ({ remove: index })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const started: number[] = [];
        const removed = new Set<number>();
        let running: PromiseWithResolvers<void> | undefined;
        let runningCount = 0;
        const queue = new TurnQueue<number>({
          maxWaiting: 3,
          run: async (item) => {
            expect(++runningCount).toBe(1);
            started.push(item);
            running = Promise.withResolvers();
            await running.promise;
            runningCount--;
          },
        });
        let added = 0;
        for (const step of actions) {
          if (step === "add" && !queue.isFull) queue.add(added++);
          else if (step === "finish") running?.resolve();
          else if (typeof step === "object" && queue.remove(step.remove)) removed.add(step.remove);
          expect(queue.waitingCount).toBeLessThanOrEqual(3);
          await new Promise((resolve) => setImmediate(resolve));
        }
        while (queue.isBusy) {
          running?.resolve();
          await new Promise((resolve) => setImmediate(resolve));
        }
        await queue.idle();
        const expected = Array.from({ length: added }, (_, item) => item).filter(
          (item) => !removed.has(item),
        );
        expect(started).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
