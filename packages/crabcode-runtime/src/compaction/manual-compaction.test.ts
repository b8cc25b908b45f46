import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

const LONG = "lorem ipsum dolor sit. ".repeat(3000);

/** Two long turns: four messages, of which the last two may stay. */
async function talked(
  script: readonly ScriptEntry[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({
    script: [{ text: "a1" }, { text: "a2" }, ...script],
    settings,
  });
  await (await fixture.send(`first ${LONG}`)).all();
  await (await fixture.send("second")).all();
  return fixture;
}

const compact = (fixture: RuntimeFixture, more: { instructions?: string; signal?: AbortSignal } = {}) =>
  fixture.runtime.sessions.compact({ sessionId: "", ...more });

async function projectedTexts(fixture: RuntimeFixture): Promise<string[]> {
  const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "", isProjected: true });
  return messages.flatMap(({ message }) =>
    message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
}

const isCompact = ({ type }: Payload): boolean => type === "compact";

describe("a compaction that somebody asks for", () => {
  it("puts a summary in the place of older turns and says so outside any turn", async () => {
    await using fixture = await talked([{ text: "SUMMARY" }]);
    const bus = await fixture.subscribe();
    expect(await compact(fixture, { instructions: "keep the paths" })).toMatchObject({
      messageCountBefore: 4,
      messageCountAfter: 4,
    });
    const event = await bus.find({ type: "compact" });
    expect(event).toMatchObject({ trigger: "manual", messages_before: 4, messages_after: 4, agent_id: null });
    expect(event).not.toHaveProperty("operation_id");
    expect(JSON.stringify(fixture.models.requests.at(-1)?.messages)).toContain("keep the paths");
    const texts = await projectedTexts(fixture);
    expect(texts[0]).toBe("[Conversation summary: SUMMARY]");
    expect(texts.slice(1, 3)).toEqual(["second", "a2"]);
    expect(texts[3]).toMatch(/^\[Conversation was compacted/);
    const { totalSize } = await fixture.runtime.sessions.listMessages({ sessionId: "" });
    expect(totalSize).toBe(4);
    bus.leave();
  });

  it("holds for the next message, also in another process", async () => {
    await using fixture = await talked([{ text: "SUMMARY" }, { text: "a3" }]);
    await compact(fixture);
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    await (await fixture.send("third")).all();
    const sent = JSON.stringify(fixture.models.requests.at(-1)?.messages);
    expect(sent).toContain("SUMMARY");
    expect(sent).not.toContain("first lorem");
  });

  it("is undone by going back to before it, and kept by going back to after it", async () => {
    await using fixture = await talked([{ text: "SUMMARY" }, { text: "a3" }]);
    const here = { sessionId: "", scope: "conversation" as const };
    const before = await fixture.runtime.checkpoints.create(here);
    const whole = await projectedTexts(fixture);
    await compact(fixture);
    const after = await fixture.runtime.checkpoints.create(here);
    await (await fixture.send("third")).all();
    await fixture.runtime.checkpoints.revert({ ...here, checkpointId: after.checkpoint.checkpointId });
    const kept = (await projectedTexts(fixture)).filter((text) => !text.startsWith("[Conversation was"));
    expect(kept).toEqual(["[Conversation summary: SUMMARY]", "second", "a2"]);
    const undone = await fixture.runtime.checkpoints.revert({
      ...here,
      checkpointId: before.checkpoint.checkpointId,
    });
    expect(await projectedTexts(fixture)).toEqual(whole);
    // What the compaction made is no message of the conversation.
    expect(undone.messagesRolledBack).toBe(0);
  });

  it("is refused when there is next to nothing", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }, { text: "never" }] });
    await (await fixture.send("x")).all();
    await expect(compact(fixture)).rejects.toMatchObject({
      reason: "NOTHING_TO_COMPACT",
      kind: "failedPrecondition",
    });
    expect(fixture.models.requests).toHaveLength(1);
  });

  it("changes nothing when the summary fails", async () => {
    await using fixture = await talked([{ failure: { kind: "other", message: "no such model" } }]);
    const before = await projectedTexts(fixture);
    await expect(compact(fixture)).rejects.toMatchObject({
      reason: "SUMMARY_FAILED",
      kind: "unavailable",
      message: expect.stringContaining("no such model"),
    });
    expect(await projectedTexts(fixture)).toEqual(before);
  });

  it("changes nothing when the adapter of the model fails before it streams", async () => {
    await using fixture = await talked([]);
    const port = fixture.models.open("script");
    const stream = (): never => {
      throw new Error("no adapter");
    };
    fixture.models.open = () => ({ ...port, stream });
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    const before = await projectedTexts(fixture);
    await expect(compact(fixture)).rejects.toMatchObject({
      reason: "SUMMARY_FAILED",
      message: expect.stringContaining("no adapter"),
    });
    expect(await projectedTexts(fixture)).toEqual(before);
  });

  it("changes nothing when the summary would not be smaller", async () => {
    await using fixture = await talked([{ text: LONG + LONG }]);
    const before = await projectedTexts(fixture);
    expect(await compact(fixture)).toMatchObject({ messageCountBefore: 4, messageCountAfter: 4 });
    expect(await projectedTexts(fixture)).toEqual(before);
  });

  it("gets along without a language model", async () => {
    await using fixture = await talked([]);
    const port = { ...fixture.models.open("script"), provider: "offline" };
    fixture.models.open = () => port;
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    await compact(fixture);
    expect((await projectedTexts(fixture))[0]).toContain("2 earlier messages");
  });

  it("waits for the running turn and goes before messages that wait", async () => {
    await using fixture = await talked([{ text: "a3", hold: "go" }, { text: "SUMMARY" }, { text: "a4" }]);
    const bus = await fixture.subscribe();
    const running = await fixture.send("third");
    await running.find({ type: "stream_mode", mode: "requesting" });
    const waiting = await fixture.send("fourth");
    const compacted = compact(fixture);
    // A loaded session is found without waiting for anything outside, so the call is in the queue by then.
    await setImmediate();
    fixture.models.release("go");
    expect(await compacted).toMatchObject({ messageCountBefore: 6 });
    await Promise.all([running.all(), waiting.all()]);
    await bus.find({ type: "turn_complete" }, 2);
    const order = bus.events.filter((event) => isCompact(event) || event.type === "turn_complete");
    expect(order.map(({ type }) => type)).toEqual(["turn_complete", "compact", "turn_complete"]);
    bus.leave();
  });
});

describe("a compaction that is given up", () => {
  it("by its caller while it waits leaves the turn alone", async () => {
    await using fixture = await talked([{ text: "a3", hold: "go" }, { text: "a4" }]);
    const running = await fixture.send("third");
    await running.find({ type: "stream_mode", mode: "requesting" });
    const call = new AbortController();
    const compacted = compact(fixture, { signal: call.signal });
    await setImmediate();
    call.abort(new Error("enough"));
    await expect(compacted).rejects.toThrow("enough");
    fixture.models.release("go");
    expect((await running.all()).at(-1)).toMatchObject({ reason: "end_turn" });
    expect((await (await fixture.send("x")).all()).some(isCompact)).toBe(false);
    expect(fixture.models.requests).toHaveLength(4);
  });

  it("by its caller while it runs changes nothing and lets the next message go on", async () => {
    await using fixture = await talked([{ text: "S", hold: "never" }, { text: "a3" }]);
    const before = await projectedTexts(fixture);
    const bus = await fixture.subscribe();
    const call = new AbortController();
    const compacted = compact(fixture, { signal: call.signal });
    await bus.find({ type: "stream_mode", mode: "compacting" });
    call.abort(new Error("enough"));
    await expect(compacted).rejects.toThrow("enough");
    expect(await projectedTexts(fixture)).toEqual(before);
    expect((await (await fixture.send("x")).all()).at(-1)).toMatchObject({ reason: "end_turn" });
    bus.leave();
  });

  it("by the end of its session is refused, whether it runs or waits", async () => {
    await using fixture = await talked([{ text: "S", hold: "never" }]);
    const bus = await fixture.subscribe();
    const running = compact(fixture);
    await bus.find({ type: "stream_mode", mode: "compacting" });
    const waiting = compact(fixture);
    const refusals = Promise.allSettled([running, waiting]);
    await setImmediate();
    await fixture.closeRuntime();
    for (const refusal of await refusals) {
      expect(refusal).toMatchObject({ status: "rejected", reason: { reason: "SHUTTING_DOWN" } });
    }
    bus.leave();
  });

  it("by a hook says what the hook said; one that passes is told before and after", async () => {
    const commands: { input: unknown; variables: unknown }[] = [];
    await using fixture = await talked([{ text: "SUMMARY" }], {
      hooks: { pre_compact: [{ command: "may i" }], post_compact: [{ command: "done" }] },
    });
    let exitCode = 1;
    fixture.toolbox.onCommand = async ({ input, environment, command }) => {
      commands.push({ input: JSON.parse(input ?? ""), variables: environment["CRABCODE_HOOK_EVENT"] });
      return { stdout: command, exitCode };
    };
    await expect(compact(fixture)).rejects.toMatchObject({
      reason: "SUMMARY_FAILED",
      message: expect.stringContaining("may i"),
    });
    expect(fixture.models.requests).toHaveLength(2);
    exitCode = 0;
    const { sessionId } = await compact(fixture, { instructions: "i" });
    const about = { session_id: sessionId, trigger: "manual" };
    expect(commands.slice(1)).toEqual([
      { input: { ...about, custom_instructions: "i" }, variables: "pre_compact" },
      { input: { ...about, compact_summary: "SUMMARY" }, variables: "post_compact" },
    ]);
  });
});
