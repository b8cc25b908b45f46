import { describe, expect, it } from "vitest";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

const inSession = { session: { sessionId: "s", create: true } };

async function open(script: readonly ScriptEntry[]): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({ script });
  fixture.models.allowsBackgroundRequests = true;
  return fixture;
}

async function send(fixture: RuntimeFixture, text: string): Promise<void> {
  await (await fixture.send(text, inSession)).all();
}

/** The title once it is another one than that. */
async function titleOtherThan({ runtime, clock }: RuntimeFixture, before: string): Promise<string> {
  for (;;) {
    const { title } = await runtime.sessions.get("s");
    if (title !== before) return title;
    await clock.advance(1);
  }
}

/** Waits until the model was asked so many times. */
async function requests({ models, clock }: RuntimeFixture, count: number): Promise<void> {
  while (models.requests.length < count) await clock.advance(1);
}

describe("a generated title", () => {
  it("item 17: is asked of the model once, after the first turn, with both sides of it", async () => {
    await using fixture = await open([
      { text: "Use OAuth." },
      { text: ' "Adding a login\nwith OAuth" ' },
      { text: "b" },
    ]);
    await send(fixture, "Add a login");
    expect(await titleOtherThan(fixture, "Add a login")).toBe("Adding a login with OAuth");
    const asked = fixture.models.requests[1];
    expect(asked).toMatchObject({
      tools: [],
      maxOutputTokens: 50,
      loop: { sessionId: "s", agentNumber: null },
    });
    expect(asked?.thinking).toBeUndefined();
    expect(JSON.stringify(asked?.messages)).toMatch(/Add a login.*Use OAuth\./);
    await send(fixture, "more");
    const session = await fixture.runtime.sessions.get("s");
    expect(session).toMatchObject({ title: "Adding a login with OAuth", messageCount: 4, tokensUsed: 30 });
    expect(fixture.models.requests).toHaveLength(3);
  });

  it("publishes no event and keeps no message waiting", async () => {
    await using fixture = await open([{ text: "a" }, { text: "T", hold: "title" }, { text: "b" }]);
    const watcher = await fixture.watch({
      sessionId: (await fixture.runtime.sessions.create({ sessionId: "s" })).session.sessionId,
    });
    await send(fixture, "one");
    await requests(fixture, 2);
    await send(fixture, "two");
    const { headSeq } = await fixture.runtime.sessions.get("s");
    fixture.models.release("title");
    expect(await titleOtherThan(fixture, "one")).toBe("T");
    expect((await fixture.runtime.sessions.get("s")).headSeq).toBe(headSeq);
    watcher.leave();
  });

  it("never replaces one that was given, not even while it is made", async () => {
    await using fixture = await open([{ text: "a" }, { text: "T", hold: "title" }, { text: "b" }]);
    await send(fixture, "one");
    await requests(fixture, 2);
    await fixture.runtime.sessions.rename("s", "Mine");
    fixture.models.release("title");
    await send(fixture, "two");
    await fixture.runtime.sessions.close("s");
    expect(await fixture.runtime.sessions.get("s")).toMatchObject({ title: "Mine" });
    expect(fixture.models.requests).toHaveLength(3);
  });

  it("is not asked for when there is a given one", async () => {
    await using fixture = await open([{ text: "a" }]);
    await fixture.runtime.sessions.create({ sessionId: "s", title: "Mine" });
    await send(fixture, "one");
    await fixture.runtime.sessions.close("s");
    expect(fixture.models.requests).toHaveLength(1);
  });

  it.each([
    ["it fails", { failure: { kind: "auth" as const, message: "no" } }],
    ["it says nothing", { text: " " }],
    ["it says too much", { text: "x".repeat(201) }],
  ])("is left out when %s", async (_what, entry) => {
    await using fixture = await open([{ text: "a" }, entry, { text: "b" }]);
    await send(fixture, "one");
    await requests(fixture, 2);
    await send(fixture, "two");
    await fixture.runtime.sessions.close("s");
    expect(await fixture.runtime.sessions.get("s")).toMatchObject({ title: "one" });
    expect(fixture.models.requests).toHaveLength(3);
  });

  it("is given up when the session closes or it takes too long", async () => {
    await using fixture = await open([{ text: "a" }, { text: "T", hold: "never" }]);
    await send(fixture, "one");
    await requests(fixture, 2);
    await fixture.runtime.sessions.close("s");
    expect(await fixture.runtime.sessions.get("s")).toMatchObject({ state: "stored", title: "one" });

    await using other = await open([{ text: "a" }, { text: "T", hold: "late" }]);
    await send(other, "one");
    await requests(other, 2);
    await other.clock.advance(60_000);
    other.models.release("late");
    await other.runtime.sessions.close("s");
    expect(await other.runtime.sessions.get("s")).toMatchObject({ title: "one" });
  });

  it("waits for the first turn that ends with an answer", async () => {
    await using fixture = await open([
      { failure: { kind: "auth", message: "no" } },
      { text: "a" },
      { text: "T" },
    ]);
    await send(fixture, "one");
    await send(fixture, "two");
    expect(await titleOtherThan(fixture, "one")).toBe("T");
  });

  it("is not asked of models that a request in between would disturb", async () => {
    await using fixture = await open([{ text: "a" }]);
    fixture.models.allowsBackgroundRequests = false;
    await send(fixture, "one");
    await fixture.runtime.sessions.close("s");
    expect(fixture.models.requests).toHaveLength(1);
  });
});
