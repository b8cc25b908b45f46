import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import type { CrabcodeRuntime } from "../crabcode-runtime.ts";
import { type CrashedCopy, Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

/** About 10 000 tokens. */
const LONG = "lorem ipsum dolor sit. ".repeat(1740);

/** Two long turns; a third one is compacted before its first request. */
async function longConversation(script: readonly ScriptEntry[]): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({
    script: [{ text: "a1" }, { text: "a2" }, ...script],
    isDurable: true,
  });
  fixture.models.contextWindowTokens = 54_000;
  for (const text of [`first ${LONG}`, `second ${LONG}`]) await (await fixture.send(text)).all();
  return fixture;
}

const outlineOf = (messages: readonly Message[]): string[] =>
  messages.map(({ content }) =>
    content.map((block) => (block.type === "text" ? block.text.slice(0, 21) : block.type)).join(" "),
  );

async function projected(runtime: CrabcodeRuntime): Promise<string[]> {
  const { messages } = await runtime.sessions.listMessages({ sessionId: "", isProjected: true });
  return outlineOf(messages.map(({ message }) => message));
}

async function sendTo({ runtime }: CrashedCopy, text: string): Promise<Reader> {
  const { events } = await runtime.sendMessage({ session: { sessionId: "" }, text });
  return new Reader(events);
}

describe("a process that ends", () => {
  it("while a summary is made in a turn leaves the history as it was, and the next message has it made", async () => {
    await using fixture = await longConversation([{ text: "S", hold: "never" }]);
    const reader = await fixture.send(`third ${LONG}`);
    await reader.find({ type: "stream_mode", mode: "compacting" });
    await using copy = await fixture.afterCrash([{ text: "SUMMARY" }, { text: "done" }]);
    copy.models.contextWindowTokens = 54_000;
    expect(await projected(copy.runtime)).toHaveLength(5);
    const events = await (await sendTo(copy, "fourth")).all();
    expect(events.map(({ type }) => type)).toContain("compact");
    expect(events.at(-1)).toMatchObject({ reason: "end_turn" });
    expect((await projected(copy.runtime))[0]).toBe("[Conversation summary");
    await fixture.runtime.interruptTurn("");
  });

  it("behind a compaction, while the answer comes, keeps the compaction and what was answered", async () => {
    await using fixture = await longConversation([
      { text: "SUMMARY" },
      { text: ["half", " more"], hold: "never", hold_after_chunks: 1 },
    ]);
    const reader = await fixture.send(`third ${LONG}`);
    await reader.find({ type: "stream_text" });
    const before = await projected(fixture.runtime);
    await using copy = await fixture.afterCrash([{ text: "done" }]);
    await (await sendTo(copy, "fourth")).all();
    expect(await projected(copy.runtime)).toEqual([...before, "half", "fourth", "done"]);
    expect(outlineOf(copy.models.requests[0]?.messages.slice(1) ?? [])).toEqual([
      ...before,
      "half",
      "fourth",
    ]);
    await fixture.runtime.interruptTurn("");
  });

  it("between a compaction and a way back leads to the same place", async () => {
    await using fixture = await longConversation([{ text: "SUMMARY" }, { text: "a3" }]);
    const here = { sessionId: "", scope: "conversation" as const };
    const restart = async (): Promise<void> => {
      const shown = await projected(fixture.runtime);
      await fixture.closeRuntime();
      fixture.runtime = fixture.start();
      expect(await projected(fixture.runtime)).toEqual(shown);
    };
    const whole = await projected(fixture.runtime);
    const before = await fixture.runtime.checkpoints.create(here);
    await restart();
    await (await fixture.send(`third ${LONG}`)).all();
    const compacted = await projected(fixture.runtime);
    expect(compacted[0]).toBe("[Conversation summary");
    await restart();
    const after = await fixture.runtime.checkpoints.create(here);
    await restart();
    const ways = [
      { to: before, view: whole },
      { to: after, view: compacted },
      { to: before, view: whole },
    ];
    for (const { to, view } of ways) {
      await fixture.runtime.checkpoints.revert({ ...here, checkpointId: to.checkpoint.checkpointId });
      expect(await projected(fixture.runtime)).toEqual(view);
      await restart();
    }
  });
});

it("keeps what its turn was asked for when the turn goes back to before it after a compaction", async () => {
  const step = (id: string): ScriptEntry => ({
    text: LONG,
    tool_calls: [{ id, name: "Bash", input: { command: "x" } }],
  });
  await using fixture = await RuntimeFixture.create({
    script: [{ text: "a1" }],
    isDurable: true,
    settings: { permissions: { default_mode: "bypassPermissions" } },
  });
  fixture.models.contextWindowTokens = 54_000;
  await (await fixture.send("first")).all();
  const { checkpoint } = await fixture.runtime.checkpoints.create({ sessionId: "" });
  const input = { checkpoint_id: checkpoint.checkpointId };
  fixture.models.entries.push(
    ...["c1", "c2", "c3"].map(step),
    { text: "SUMMARY" },
    { tool_calls: [{ id: "back", name: "Revert", input }] },
    { text: "AGAIN" },
    { text: "done" },
  );
  const events = await (await fixture.send("second")).all();
  expect(events.filter(({ type }) => type === "compact")).toHaveLength(2);
  const [again] = fixture.models.requests.at(-2)?.messages ?? [];
  expect(JSON.stringify(again)).toContain("User: second");
  const shown = await projected(fixture.runtime);
  expect(shown.at(-1)).toBe("done");
  await fixture.closeRuntime();
  fixture.runtime = fixture.start();
  expect(await projected(fixture.runtime)).toEqual(shown);
});
