import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { HistoryMessage, ListMessagesInput } from "./session-types.ts";

const inSession = { session: { sessionId: "s", create: true } };

/** A session `s` with these texts as its turns, each answered by `re: <text>`. */
async function conversation(texts: readonly string[]): Promise<RuntimeFixture> {
  const script = texts.map((text) => ({ text: `re: ${text}` }));
  const fixture = await RuntimeFixture.create({ script, isDurable: true });
  for (const text of texts) {
    await (await fixture.send(text, inSession)).all();
    await fixture.clock.advance(1000);
  }
  return fixture;
}

async function textsOf(fixture: RuntimeFixture, input: Partial<ListMessagesInput> = {}): Promise<string[]> {
  const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "s", ...input });
  return messages.map(textOf);
}

function textOf({ message }: { readonly message: Message }): string {
  return message.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("");
}

/** Every page, one after the other; `between` runs after each. */
async function pages(
  fixture: RuntimeFixture,
  input: Partial<ListMessagesInput>,
  between: () => Promise<void> = async () => {},
): Promise<string[][]> {
  const all: string[][] = [];
  for (let pageToken = ""; ; ) {
    const page = await fixture.runtime.sessions.listMessages({ sessionId: "s", ...input, pageToken });
    all.push(page.messages.map(textOf));
    pageToken = page.nextPageToken;
    if (pageToken === "") return all;
    await between();
  }
}

describe("a history", () => {
  it("has every message with its place, time, turn and origin", async () => {
    await using fixture = await conversation(["one"]);
    const { messages, totalSize, sessionId } = await fixture.runtime.sessions.listMessages({
      sessionId: "s",
    });
    expect({ totalSize, sessionId }).toEqual({ totalSize: 2, sessionId: "s" });
    const operationId = messages[0]?.operationId;
    expect(operationId).toMatch(/^[0-9a-f]{32}$/);
    const common = { timestamp: "2026-01-01T00:00:00.000Z", replyTo: undefined, operationId };
    expect(messages).toEqual([
      { ...common, messageId: expect.stringMatching(/^[0-9a-f-]{36}$/), index: 0, message: userText("one") },
      {
        ...common,
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        index: 1,
        message: { role: "assistant", content: [{ type: "text", text: "re: one" }] },
      },
    ]);
  });

  it("is the same when the session is not loaded, and loads nothing", async () => {
    await using fixture = await conversation(["one", "two"]);
    const { sessions } = fixture.runtime;
    const loaded = await sessions.listMessages({ sessionId: "s" });
    await sessions.close("s");
    expect(await sessions.listMessages({ sessionId: "s" })).toEqual(loaded);
    expect(await sessions.get("s")).toMatchObject({ state: "stored" });
  });

  it("begins with the newest when that is wanted", async () => {
    await using fixture = await conversation(["one", "two"]);
    expect(await textsOf(fixture, { isNewestFirst: true })).toEqual(["re: two", "two", "re: one", "one"]);
    expect(await pages(fixture, { isNewestFirst: true, pageSize: 3 })).toEqual([
      ["re: two", "two", "re: one"],
      ["one"],
    ]);
  });

  it("may be asked for of a session that exists, by a request whose token fits", async () => {
    await using fixture = await conversation(["one", "two"]);
    const { sessions } = fixture.runtime;
    expect(await refusal(sessions.listMessages({ sessionId: "nope" }))).toMatchObject({
      reason: "SESSION_NOT_FOUND",
    });
    expect(await refusal(sessions.listMessages({ sessionId: "s", pageSize: -1 }))).toMatchObject({
      field: "page_size",
    });
    const { nextPageToken: pageToken } = await sessions.listMessages({ sessionId: "s", pageSize: 1 });
    expect(await textsOf(fixture, { pageToken, pageSize: 1 })).toEqual(["re: one"]);
    for (const other of [{ isNewestFirst: true }, { isProjected: true }, { sessionId: "" }]) {
      const call = sessions.listMessages({ sessionId: "s", pageToken, ...other });
      expect(await refusal(call)).toMatchObject({ reason: "PAGE_TOKEN_INVALID" });
    }
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    expect(await textsOf(fixture, { pageToken })).toEqual(["re: one", "two", "re: two"]);
  });
});

describe("pages of a history", () => {
  it("neither repeat nor lose a message while others are written", async () => {
    await using fixture = await conversation(["one", "two"]);
    let count = 0;
    const write = async (): Promise<void> => {
      if (count++ > 0) return;
      fixture.models.entries.push({ text: "re: three" });
      await (await fixture.send("three", inSession)).all();
    };
    expect(await pages(fixture, { pageSize: 3 }, write)).toEqual([
      ["one", "re: one", "two"],
      ["re: two", "three", "re: three"],
    ]);
    count = 0;
    expect(await pages(fixture, { pageSize: 4, isNewestFirst: true }, write)).toEqual([
      ["re: three", "three", "re: two", "two"],
      ["re: one", "one"],
    ]);
  });

  it("end before they hold 4 MiB, and show 1 MiB of a result", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    await sessions.close("s");
    const text = (bytes: number): unknown => [{ type: "text", text: "é".repeat(bytes / 2) }];
    const result = { type: "tool_result", tool_use_id: "c", content: "é".repeat(2 ** 20) };
    const contents = [text(1_500_000), text(1_500_000), text(1_500_000), [result], text(5_000_000)];
    const lines = contents.map((content, index) =>
      JSON.stringify({ type: "user", uuid: `${index}${"u".repeat(1000)}`, timestamp: "", content }),
    );
    const transcripts = join(fixture.dataDir, "crabcode", "transcripts");
    await mkdir(transcripts, { recursive: true });
    await writeFile(join(transcripts, "s.jsonl"), `${lines.join("\n")}\n`);
    const places: number[][] = [];
    for (let pageToken = ""; ; ) {
      const page = await sessions.listMessages({ sessionId: "s", pageToken });
      places.push(page.messages.map(({ index }) => index));
      for (const { message } of page.messages) {
        for (const block of message.content) {
          if (block.type === "tool_result")
            expect(Buffer.byteLength(block.content)).toBeLessThanOrEqual(2 ** 20);
        }
      }
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(places).toEqual([[0, 1], [2, 3], [4]]);
  });
});

describe("what a model is sent", () => {
  it("is everything before anything was compacted", async () => {
    await using fixture = await conversation(["one"]);
    const { sessions } = fixture.runtime;
    const all = await sessions.listMessages({ sessionId: "s" });
    expect(await sessions.listMessages({ sessionId: "s", isProjected: true })).toEqual(all);
  });

  it("is the summary and the tail after that, also of a session that is not loaded, in pages", async () => {
    const texts = ["one", "two", "three"].map((text) => `${text} ${"word ".repeat(20_000)}`);
    await using fixture = await conversation(texts);
    const { sessions } = fixture.runtime;
    fixture.models.entries.push({ text: "All is well." });
    const counts = await sessions.compact({ sessionId: "s" });
    expect(counts.messageCountAfter).toBeLessThan(counts.messageCountBefore);
    const projected = await sessions.listMessages({ sessionId: "s", isProjected: true });
    expect(projected.totalSize).toBe(counts.messageCountAfter);
    const [summary] = projected.messages;
    expect(summary).toMatchObject({
      index: -1,
      // When it was made.
      timestamp: "2026-01-01T00:00:03.000Z",
      message: { role: "user", origin: "compact-summary" },
    });
    expect(summary && textOf(summary)).toContain("All is well.");
    expect((await sessions.listMessages({ sessionId: "s" })).totalSize).toBe(6);
    await sessions.close("s");
    expect(await sessions.listMessages({ sessionId: "s", isProjected: true })).toEqual(projected);
    const single = await pages(fixture, { isProjected: true, pageSize: 1 });
    expect(single).toEqual(projected.messages.map((message) => [textOf(message)]));
  });

  it.each([
    { isNewestFirst: false, pageSize: 4 },
    { isNewestFirst: true, pageSize: 3 },
  ])("neither repeats nor loses a message when a compaction comes between pages: %o", async (input) => {
    const long = "word ".repeat(20_000);
    await using fixture = await conversation([`one ${long}`, `two ${long}`, "three"]);
    const { sessions } = fixture.runtime;
    fixture.models.entries.push({ text: "A summary with many words." }, { text: "re: four" }, { text: "ok" });
    await sessions.compact({ sessionId: "s" });
    await (await fixture.send("four", inSession)).all();
    let isCompacted = false;
    const [before = [], ...after] = await pages(fixture, { ...input, isProjected: true }, async () => {
      if (!isCompacted) await sessions.compact({ sessionId: "s" });
      isCompacted = true;
    });
    // The page before ends with what the first compaction made, which the second one removes.
    expect(before.at(-1)).toMatch(/^\[Conversation was compacted/);
    const rest = after.flat().filter((text) => !text.startsWith("[Conversation"));
    expect(rest).toEqual(input.isNewestFirst ? ["re: three", "three"] : ["four", "re: four"]);
  });
});

describe("the history of an agent", () => {
  it("is read beside the main loop's, by the agent's id alone too, loaded or not", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ agent: 1, text: "found" }] });
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    const { agentId } = await fixture.runtime.spawnAgent({ session: { sessionId: "s" }, prompt: "look" });
    await fixture.runtime.waitAgent({ sessionId: "s", agentIds: [agentId] });
    const read = (sessionId: string): Promise<{ messages: readonly HistoryMessage[] }> =>
      sessions.listMessages({ sessionId, agentId });
    const loaded = await read("s");
    expect(loaded.messages.map(textOf)).toEqual(["look", "found"]);
    expect(await read("")).toEqual(loaded);
    expect(await textsOf(fixture)).toEqual([]);
    await sessions.close("s");
    expect(await read("s")).toEqual(loaded);
    expect(await sessions.get("s")).toMatchObject({ state: "stored" });
    const foreign = sessions.listMessages({ sessionId: (await sessions.get("")).sessionId, agentId });
    expect(await refusal(foreign)).toMatchObject({ reason: "AGENT_NOT_FOUND", kind: "notFound" });
    for (const sessionId of ["s", ""]) {
      const unknown = sessions.listMessages({ sessionId, agentId: "nope" });
      expect(await refusal(unknown)).toMatchObject({ reason: "AGENT_NOT_FOUND" });
    }
  });
});

function userText(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}
