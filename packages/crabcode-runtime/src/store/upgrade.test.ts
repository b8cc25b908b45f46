import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@trivium/core";
import { openDatabase } from "@trivium/core/node";
import { describe, expect, it } from "vitest";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import { storeMigrations } from "./session-store.ts";

/** Steps of the schema before there was a search. */
const OLD_STEPS = 2;

const row = (type: string, uuid: string, text: string) =>
  `${JSON.stringify({ type, uuid, timestamp: "2026-01-01T00:00:00.000Z", content: [{ type: "text", text }] })}\n`;

/** A runtime over a data folder as a release without search left it: two sessions, one with an ended turn. */
async function upgraded(): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({ script: [{ text: "more" }], isDurable: true });
  await fixture.closeRuntime();
  const dataDir = join(fixture.dataDir, "..", "old");
  const folder = join(dataDir, "crabcode");
  await mkdir(join(folder, "transcripts"), { recursive: true });
  const path = join(folder, "sessions.sqlite");
  const migrations = storeMigrations.slice(0, OLD_STEPS);
  const database = openDatabase({ path, migrations, logger: silentLogger });
  const insert = database.prepare("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, 5, 9, ?)");
  insert.run("s", fixture.cwd, "find it", "other", "find it", 2, 15, 0);
  insert.run("old", fixture.cwd, "old", null, "old", 1, 3, 1);
  database
    .prepare(
      `INSERT INTO operations VALUES ('o', 's', 'message', 'ended', 'find it', 0, 1, 'k', 'hash', 'e', 0, 1,
         '{"input_tokens":10,"output_tokens":5}', '{}', 4, 5, ?)`,
    )
    .run(fixture.clock.now());
  database.exec("INSERT INTO facts VALUES ('default_session', 's')");
  database.close();
  await writeFile(
    join(folder, "transcripts", "s.jsonl"),
    row("user", "u1", "find it") + row("assistant", "u2", "the needle"),
  );
  await writeFile(join(folder, "transcripts", "old.jsonl"), row("user", "u3", "a haystack"));
  fixture.runtime = fixture.start({ dataDir });
  return fixture;
}

describe("a data folder of a release without search", () => {
  it("keeps everything: sessions, archive, default session, profile, history", async () => {
    await using fixture = await upgraded();
    const { sessions } = fixture.runtime;
    expect(await sessions.get("")).toMatchObject({
      sessionId: "s",
      title: "find it",
      messageCount: 2,
      tokensUsed: 15,
      modelProfile: "other",
      state: "stored",
      createdAtMs: 5,
    });
    expect(await sessions.get("old")).toMatchObject({ state: "archived" });
    const { messages } = await sessions.listMessages({ sessionId: "s" });
    expect(messages.map(({ messageId }) => messageId)).toEqual(["u1", "u2"]);
    await (await fixture.send("more", { session: { sessionId: "s" } })).all();
    expect(await sessions.get("s")).toMatchObject({ messageCount: 4, title: "find it" });
  });

  it("can be searched without any session being loaded", async () => {
    await using fixture = await upgraded();
    const { sessions } = fixture.runtime;
    const states = ["stored", "archived"] as const;
    for (const [query, sessionId] of [
      ["needle", "s"],
      ["haystack", "old"],
    ] as const) {
      // It is taken in after the start, beside everything else.
      let page = await sessions.list({ states, query });
      while (page.totalSize === 0) {
        await fixture.clock.advance(1);
        page = await sessions.list({ states, query });
      }
      expect(page.sessions.map((session) => session.sessionId)).toEqual([sessionId]);
    }
  });
});

describe("the index of a transcript that lost lines", () => {
  it("follows it, also for what is written later", async () => {
    const script = [{ text: "needle" }, { text: "thimble" }];
    await using fixture = await RuntimeFixture.create({ script, isDurable: true });
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    await fixture.closeRuntime();
    await writeFile(join(fixture.dataDir, "crabcode", "transcripts", "s.jsonl"), "");
    fixture.runtime = fixture.start();
    await (await fixture.send("y", { session: { sessionId: "s" } })).all();
    const find = async (query: string) => (await fixture.runtime.sessions.list({ query })).totalSize;
    expect([await find("needle"), await find("thimble")]).toEqual([0, 1]);
  });
});

describe("a time that no message can hold", () => {
  it("in a transcript leaves the session listed as it was", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }], isDurable: true });
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    const { updatedAtMs } = await fixture.runtime.sessions.get("s");
    await fixture.closeRuntime();
    const line = { type: "user", uuid: "u", timestamp: "+275760-09-13T00:00:00.000Z", content: "late" };
    const transcript = join(fixture.dataDir, "crabcode", "transcripts", "s.jsonl");
    await appendFile(transcript, `${JSON.stringify(line)}\n`);
    fixture.runtime = fixture.start();
    const { session } = await fixture.runtime.sessions.resume("s");
    expect(session).toMatchObject({ messageCount: 3, updatedAtMs });
  });
});
