import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { silentLogger } from "@trivium/core";
import { openDatabase } from "@trivium/core/node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessageSearch } from "../store/message-search.ts";
import { SessionIndex } from "../store/session-index.ts";
import { storeMigrations } from "../store/session-store.ts";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ListSessionsInput } from "./session-types.ts";

/** Sessions of these ids, each a millisecond younger than the one before. */
async function makeSessions(fixture: RuntimeFixture, ids: readonly string[]): Promise<void> {
  for (const sessionId of ids) {
    await fixture.runtime.sessions.create({ sessionId });
    await fixture.clock.advance(1);
  }
}

async function idsOf(fixture: RuntimeFixture, input: ListSessionsInput = {}): Promise<string[]> {
  const { sessions } = await fixture.runtime.sessions.list(input);
  return sessions.map(({ sessionId }) => sessionId);
}

/** Every page of a list, one after the other; `between` runs after each. */
async function pages(
  fixture: RuntimeFixture,
  input: ListSessionsInput,
  between: (count: number) => Promise<void> = async () => {},
): Promise<string[][]> {
  const all: string[][] = [];
  for (let pageToken = ""; ; ) {
    const page = await fixture.runtime.sessions.list({ ...input, pageToken });
    all.push(page.sessions.map(({ sessionId }) => sessionId));
    pageToken = page.nextPageToken;
    if (pageToken === "") return all;
    expect(pageToken).toMatch(/^[\w-]{1,512}$/);
    await between(all.length);
  }
}

describe("a list of sessions", () => {
  it("has the one that changed last first, then goes by id", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "hi" }] });
    const { sessions } = fixture.runtime;
    for (const sessionId of ["b", "a", "c"]) await sessions.create({ sessionId });
    expect(await idsOf(fixture)).toEqual(["a", "b", "c"]);
    await fixture.clock.advance(1);
    await (await fixture.send("x", { session: { sessionId: "b" } })).all();
    await fixture.clock.advance(1);
    await sessions.rename("c", "C");
    expect(await idsOf(fixture)).toEqual(["c", "b", "a"]);
  });

  it("chooses by state, without archived ones unless they are named", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "go" }] });
    const { sessions } = fixture.runtime;
    await makeSessions(fixture, ["archived", "stored", "idle", "busy"]);
    await sessions.archive("archived");
    await sessions.close("stored");
    const turn = await fixture.send("x", { session: { sessionId: "busy" } });
    await turn.find({ type: "stream_mode" });
    expect(await idsOf(fixture)).toEqual(["busy", "idle", "stored"]);
    for (const state of ["archived", "stored", "idle", "busy"] as const) {
      const page = await sessions.list({ states: [state] });
      expect(page).toMatchObject({ sessions: [{ sessionId: state, state }], totalSize: 1 });
    }
    expect(await idsOf(fixture, { states: ["archived", "busy"] })).toEqual(["busy", "archived"]);
    expect(await idsOf(fixture, { states: ["closing"] })).toEqual([]);
    fixture.models.release("go");
    await turn.all();
  });

  it("shows a session that is being closed as that", async () => {
    const read = { id: "c", name: "Read", input: { file_path: "f" } };
    await using fixture = await RuntimeFixture.create({ script: [{ tool_calls: [read] }, { text: "b" }] });
    const { sessions } = fixture.runtime;
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    fixture.toolbox.onDispose = () => {
      reached.resolve();
      return release.promise;
    };
    const closing = sessions.close("s");
    await reached.promise;
    const seen = [
      await sessions.list({ states: ["closing"] }),
      await sessions.list({ states: ["idle", "busy"] }),
    ];
    release.resolve();
    await closing;
    expect(seen.map(({ sessions: rows }) => rows.map(({ state }) => state))).toEqual([["closing"], []]);
  });

  it("chooses by exactly one folder", async () => {
    await using fixture = await RuntimeFixture.create();
    await makeSessions(fixture, ["s"]);
    expect(await idsOf(fixture, { cwd: fixture.cwd })).toEqual(["s"]);
    expect(await idsOf(fixture, { cwd: fixture.cwd.slice(0, -1) })).toEqual([]);
  });

  it("loads nothing, and goes on while the runtime is closing", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "go" }] });
    await makeSessions(fixture, ["s"]);
    await fixture.runtime.sessions.close("s");
    const turn = await fixture.send("x");
    await turn.find({ type: "stream_mode" });
    const closing = fixture.runtime.close({ drainMs: 1000 });
    const listed = await fixture.runtime.sessions.list({});
    expect(listed.sessions).toHaveLength(2);
    expect(await fixture.runtime.sessions.get("s")).toMatchObject({ state: "stored" });
    expect(await refusal(fixture.runtime.sessions.create({}))).toMatchObject({ reason: "SHUTTING_DOWN" });
    fixture.models.release("go");
    await closing;
    expect(await refusal(fixture.runtime.sessions.list({}))).toMatchObject({ reason: "SHUTTING_DOWN" });
  });

  it("knows epoch and last event of a session that nobody has loaded", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "hi" }], isDurable: true });
    await (await fixture.send("x")).all();
    const [loaded] = (await fixture.runtime.sessions.list({})).sessions;
    expect(loaded?.headSeq).toBeGreaterThan(3);
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    const [stored] = (await fixture.runtime.sessions.list({})).sessions;
    expect(stored).toEqual({ ...loaded, state: "stored" });
    expect(stored).toMatchObject({
      messageCount: 2,
      tokensUsed: 15,
      modelProfile: "script",
      isDefault: true,
    });
  });
});

describe("pages", () => {
  it("hold 50 rows unless asked for others, 500 at most", async () => {
    await using fixture = await RuntimeFixture.create({ isInMemory: true });
    const { sessions } = fixture.runtime;
    for (let count = 0; count < 52; count++) await sessions.create({ sessionId: `s${count}` });
    expect((await sessions.list({})).sessions).toHaveLength(50);
    expect((await sessions.list({ pageSize: 1000 })).sessions).toHaveLength(52);
    expect(await refusal(sessions.list({ pageSize: -1 }))).toMatchObject({ field: "page_size" });
  });

  it("neither repeat nor lose a row when others come and go between them", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    const ids = ["a", "b", "c", "d", "e", "f"];
    await makeSessions(fixture, ids);
    const seen = await pages(fixture, { pageSize: 2 }, async (count) => {
      await fixture.clock.advance(1);
      await sessions.create({ sessionId: `new${count}` });
      const gone = count === 1 ? "e" : "a";
      await sessions.archive(gone);
      await sessions.delete(gone);
    });
    expect(seen).toEqual([["f", "e"], ["d", "c"], ["b"]]);
  });

  it("go on after a restart, with another page size too", async () => {
    await using fixture = await RuntimeFixture.create({ isDurable: true });
    await makeSessions(fixture, ["a", "b", "c", "d"]);
    const first = await fixture.runtime.sessions.list({ pageSize: 1 });
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    const { nextPageToken: pageToken } = first;
    expect(await idsOf(fixture, { pageToken, pageSize: 2 })).toEqual(["c", "b"]);
  });

  it.each([
    ["another state", { states: ["idle" as const] }],
    ["another folder", { cwd: "/w" }],
    ["other words", { query: "x" }],
  ])("have tokens that are none of a request with %s", async (_what, other) => {
    await using fixture = await RuntimeFixture.create();
    await makeSessions(fixture, ["a", "b"]);
    const { nextPageToken: pageToken } = await fixture.runtime.sessions.list({ pageSize: 1 });
    expect(await refusal(fixture.runtime.sessions.list({ ...other, pageToken }))).toMatchObject({
      reason: "PAGE_TOKEN_INVALID",
      kind: "invalidInput",
    });
  });

  it("have tokens that nobody else can make up", async () => {
    await using fixture = await RuntimeFixture.create();
    await makeSessions(fixture, ["a", "b"]);
    const { sessions } = fixture.runtime;
    const { nextPageToken } = await sessions.list({ pageSize: 1 });
    const others = [
      "x",
      "!",
      `${nextPageToken}A`,
      `${nextPageToken} `,
      nextPageToken.slice(1),
      "W10",
      "A".repeat(513),
    ];
    for (const pageToken of others) {
      expect(await refusal(sessions.list({ pageToken }))).toMatchObject({ reason: "PAGE_TOKEN_INVALID" });
    }
    const { nextPageToken: messages } = await listTwoMessages(fixture);
    expect(await refusal(sessions.list({ pageToken: messages }))).toMatchObject({
      reason: "PAGE_TOKEN_INVALID",
    });
  });
});

async function listTwoMessages(fixture: RuntimeFixture): Promise<{ nextPageToken: string }> {
  fixture.models.entries.push({ text: "a" });
  await (await fixture.send("x", { session: { sessionId: "a" } })).all();
  return fixture.runtime.sessions.listMessages({ sessionId: "a", pageSize: 1 });
}

describe("a search", () => {
  it("finds words in titles and messages together, whatever their case, in pages", async () => {
    const script = [{ text: "The LOGIN form is done" }, { text: "Größe: 5 µm" }, { text: "nothing" }];
    await using fixture = await RuntimeFixture.create({ script });
    const { sessions } = fixture.runtime;
    for (const [sessionId, text] of [
      ["a", "first"],
      ["b", "second"],
      ["c", "third"],
    ] as const) {
      await (await fixture.send(text, { session: { sessionId, create: true } })).all();
      await fixture.clock.advance(1);
    }
    await sessions.rename("c", "Login of Others");
    expect(await idsOf(fixture, { query: "login" })).toEqual(["c", "a"]);
    expect(await idsOf(fixture, { query: "  login\tfirst " })).toEqual(["a"]);
    expect(await idsOf(fixture, { query: "login third others" })).toEqual(["c"]);
    expect(await idsOf(fixture, { query: "GRÖSSE" })).toEqual([]);
    expect(await idsOf(fixture, { query: "GRÖßE" })).toEqual(["b"]);
    expect(await idsOf(fixture, { query: "µm" })).toEqual(["b"]);
    expect(await idsOf(fixture, { query: '"login"' })).toEqual([]);
    expect(await pages(fixture, { query: "of", pageSize: 1 })).toEqual([["c"]]);
    expect(await pages(fixture, { query: "i", pageSize: 1 })).toEqual([["c"], ["a"]]);
    expect((await sessions.list({ query: "login", pageSize: 1 })).totalSize).toBe(2);
  });

  it("takes every query: with a NUL, of many words, in any alphabet, up to 1000 characters", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: "ΟΔΟΣ İstanbul (a OR b) NEAR/2 x*" }],
    });
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    for (const query of ["ΟΔΟΣ", "İstanbul", "(a OR b)", "near/2", "x*", "  "]) {
      expect(await idsOf(fixture, { query })).toEqual(["s"]);
    }
    const words = Array.from({ length: 250 }, (_, at) => String.fromCodePoint(0x4e00 + at).repeat(3));
    for (const query of ["abc\0def", "\0", "text:near", "ΟΔΟΣ AND", "-near", '"', words.join(" ")]) {
      expect(await idsOf(fixture, { query })).toEqual([]);
    }
    expect(await refusal(fixture.runtime.sessions.list({ query: "é".repeat(1001) }))).toMatchObject({
      reason: "FIELD_INVALID",
      field: "query",
    });
  });

  it("finds what a crash kept from the index once the session was loaded", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "hi" }], isDurable: true });
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    await fixture.closeRuntime();
    const line = { type: "assistant", uuid: "u", timestamp: "2026-01-02T00:00:00.000Z", content: "needle" };
    const transcript = join(fixture.dataDir, "crabcode", "transcripts", "s.jsonl");
    await appendFile(transcript, `${JSON.stringify(line)}\n`);
    fixture.runtime = fixture.start();
    const { sessions } = fixture.runtime;
    expect((await sessions.list({ query: "needle" })).totalSize).toBe(0);
    await sessions.resume("s");
    expect((await sessions.list({ query: "needle" })).sessions).toMatchObject([
      { sessionId: "s", messageCount: 3, updatedAtMs: Date.parse(line.timestamp) },
    ]);
  });

  it("finds nothing of a deleted session in a new one of its id", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "needle" }] });
    const { sessions } = fixture.runtime;
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    await sessions.archive("s");
    await sessions.delete("s");
    await sessions.create({ sessionId: "s" });
    expect((await sessions.list({ query: "needle" })).totalSize).toBe(0);
    expect((await sessions.listMessages({ sessionId: "s" })).totalSize).toBe(0);
  });

  it("that looks at every text stops after two seconds with what it has", async () => {
    await using fixture = await RuntimeFixture.create();
    const ids = ["a", "b", "c", "d", "e", "f"];
    await makeSessions(fixture, ids);
    await fixture.closeRuntime();
    let readings = 0;
    const clock = {
      now: () => fixture.clock.now(),
      monotonic: () => 500 * readings++,
      setTimer: fixture.clock.setTimer.bind(fixture.clock),
    };
    fixture.runtime = fixture.start({ clock });
    for (const sessionId of ids) await fixture.runtime.sessions.rename(sessionId, "xy");
    const found = await fixture.runtime.sessions.list({ query: "xy" });
    expect(found.sessions.length).toBeGreaterThan(0);
    expect(found.sessions.length).toBeLessThan(ids.length);
    expect(found).toMatchObject({ nextPageToken: "", totalSize: found.sessions.length });
  });

  it("finds the same with and without an index", () => {
    const word = fc.stringMatching(/^[abÄ"%_*]{1,5}$/);
    fc.assert(
      fc.property(
        fc.array(fc.array(word, { maxLength: 4 }), { maxLength: 4 }),
        fc.array(word, { minLength: 1, maxLength: 3 }),
        (texts, words) => {
          const [indexed, scanned] = [true, false].map((usesIndex) =>
            search(
              texts.map((one) => one.join(" ")),
              words,
              usesIndex,
            ),
          );
          expect(indexed).toEqual(scanned);
        },
      ),
    );
  });
});

/** Ids of the sessions with these texts that a query finds. */
function search(texts: readonly string[], words: readonly string[], usesIndex: boolean): string[] {
  const database: DatabaseSync = openDatabase({
    path: ":memory:",
    migrations: storeMigrations,
    logger: silentLogger,
  });
  const index = new SessionIndex(database, new MessageSearch(database, usesIndex));
  for (const [number, text] of texts.entries()) {
    database.exec(`INSERT INTO sessions (id, cwd, title, first_user_message, message_count, tokens_used,
      created_at_ms, updated_at_ms, is_archived) VALUES ('s${number}', '/', '', '', 0, 0, 0, 0, 0)`);
    const message = { role: "user" as const, content: [{ type: "text" as const, text }] };
    index.messageWritten(`s${number}`, 0, {
      uuid: "u",
      timestamp: "",
      message,
      operationId: undefined,
      eventSeq: 0,
    });
  }
  const split = index.split(words.join(" "));
  const filter = { wantedLoaded: [], loaded: [], wantsArchived: false, wantsStored: true, cwd: undefined };
  const rows = index.list({ ...filter, words: split.indexed }, { limit: -1 });
  const found = rows.filter((row) => index.hasAll(row, split.scanned)).map(({ sessionId }) => sessionId);
  database.close();
  return found.sort();
}
