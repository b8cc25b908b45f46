import { execFileSync } from "node:child_process";
import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import { importSessions } from "./import-sessions.ts";
import type { ImportedSession } from "./session-importer.ts";

interface Upstream extends AsyncDisposable {
  readonly fixture: RuntimeFixture;
  readonly folder: string;
  readonly project: string;
  readonly transcripts: string;
  /** Writes the transcript of a session that works in the folder of the fixture. */
  write(sessionId: string, rows: readonly unknown[], meta?: object): Promise<void>;
  import(): Promise<ImportedSession[]>;
}

async function upstream(): Promise<Upstream> {
  const fixture = await RuntimeFixture.create();
  await fixture.closeRuntime();
  const folder = join(fixture.dataDir, "..", "upstream");
  const project = join(folder, "projects", "_work");
  await mkdir(project, { recursive: true });
  const { cwd, dataDir } = fixture;
  return {
    fixture,
    folder,
    project,
    transcripts: join(dataDir, "crabcode", "transcripts"),
    write: (sessionId, rows, meta = {}) =>
      writeFile(
        join(project, `${sessionId}.jsonl`),
        [{ type: "session_meta", cwd, ...meta }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(""),
      ),
    import: () => importSessions({ folder, dataDir, workspaceRoots: [cwd] }),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
    },
  };
}

const message = (uuid: string, content: unknown = "hi", more: object = {}) => ({
  type: "user",
  uuid,
  timestamp: "2026-02-01T10:00:00Z",
  content,
  ...more,
});

describe("what an imported file says", () => {
  it.each([
    ["nanoseconds", { created_at: 1.7e18, updated_at: 1.7e18 }],
    ["times of no year", { created_at: 1e300, updated_at: -1e15 }],
    ["more tokens than are safe", { tokens_used: 2 ** 60 }],
    ["parts of tokens", { tokens_used: 1.5 }],
    ["fewer tokens than none", { tokens_used: -3 }],
  ])("of %s is left out", async (_what, meta) => {
    await using made = await upstream();
    const { fixture } = made;
    await made.write("s", [message("u1")], meta);
    expect(await made.import()).toMatchObject([{ outcome: "imported", problem: "" }]);
    fixture.runtime = fixture.start();
    const page = await fixture.runtime.sessions.list({});
    const atMs = Date.parse("2026-02-01T10:00:00Z");
    expect(page.sessions).toMatchObject([{ tokensUsed: 0, createdAtMs: atMs, updatedAtMs: atMs }]);
  });

  it("of the time of a message is left out when there is no such time", async () => {
    await using made = await upstream();
    const { fixture } = made;
    await made.write("s", [message("u1", "hi", { timestamp: 1e300 }), message("u2")]);
    expect(await made.import()).toMatchObject([{ outcome: "imported", messageCount: 2 }]);
    fixture.runtime = fixture.start();
    expect((await fixture.runtime.sessions.listMessages({ sessionId: "s" })).totalSize).toBe(2);
  });

  it("as its title has no control characters afterwards", async () => {
    await using made = await upstream();
    const { fixture } = made;
    await made.write("s", [message("u1")], {
      title: "a\u0000\nb\u001b[31m",
      git_branch: `x\n${"y".repeat(999)}`,
    });
    await made.import();
    fixture.runtime = fixture.start();
    expect(await fixture.runtime.sessions.get("s")).toMatchObject({ title: "a b [31m", gitBranch: "x" });
  });

  it("may name messages as it likes: every page comes once", async () => {
    await using made = await upstream();
    const { fixture } = made;
    const long = "x".repeat(64);
    const ids = [`${long}1`, `${long}2`, `${long}3`, "\u0001".repeat(64), "last"];
    await made.write(
      "s",
      ids.map((id) => message(id)),
    );
    await made.import();
    fixture.runtime = fixture.start();
    const seen: string[] = [];
    let pageToken = "";
    for (let count = 0; count < ids.length; count++) {
      const input = { sessionId: "s", pageSize: 1, pageToken };
      const page = await fixture.runtime.sessions.listMessages(input);
      seen.push(...page.messages.map(({ messageId }) => messageId));
      pageToken = page.nextPageToken;
    }
    expect(pageToken).toBe("");
    expect(seen).toEqual(ids);
  });

  it("gives a call one result only", async () => {
    await using made = await upstream();
    const { fixture } = made;
    const result = (content: string) => ({ type: "tool_result", tool_use_id: "c", content });
    await made.write("s", [
      message("u1"),
      message("a1", [{ type: "tool_use", id: "c", name: "Read", input: {} }], { type: "assistant" }),
      message("u2", [result("one"), result("two")]),
    ]);
    await made.import();
    fixture.runtime = fixture.start();
    const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "s" });
    expect(messages[2]?.message.content).toMatchObject([{ content: "one" }]);
  });
});

describe("the folder of an imported file", () => {
  it.each(["", ".", "../work", "a\0b", "/"])("is refused when it is %j", async (cwd) => {
    await using made = await upstream();
    await made.write("s", [message("u1")], { cwd });
    const problem = expect.stringMatching(/its folder/);
    expect(await made.import()).toMatchObject([{ outcome: "refused", problem }]);
    expect(await readdir(made.transcripts).catch(() => [])).toEqual([]);
    made.fixture.runtime = made.fixture.start();
  });
});

describe("agents of an imported file", () => {
  it("that delegate in a circle, to nobody or twice are taken once, without such a parent", async () => {
    await using made = await upstream();
    const { fixture, project } = made;
    await made.write("s", [message("u1")]);
    const agents = [
      { agent_id: "a", parent_agent_id: "c" },
      { agent_id: "b", parent_agent_id: "a", title: "first" },
      { agent_id: "c", parent_agent_id: "b" },
      { agent_id: "d", parent_agent_id: "d" },
      { agent_id: "e", parent_agent_id: "nobody" },
      { agent_id: "b", parent_agent_id: "c", title: "second" },
    ];
    await writeFile(join(project, "s.agents.json"), JSON.stringify(agents));
    expect(await made.import()).toMatchObject([{ outcome: "imported", agentCount: 5 }]);
    fixture.runtime = fixture.start();
    const list = await fixture.runtime.listAgents("s");
    const parents = Object.fromEntries(
      list.agents.map(({ agentId, parentAgentId }) => [agentId, parentAgentId]),
    );
    expect(parents).toEqual({ a: "c", b: "a", c: undefined, d: undefined, e: undefined });
    expect(list.agents.find(({ agentId }) => agentId === "b")?.title).toBe("first");
  });
});

describe("a file that is to be imported", () => {
  it("is left out when it is a pipe, a folder or a link out of the folder", async () => {
    await using made = await upstream();
    const { folder, project, fixture } = made;
    await made.write("fine", [message("u1")]);
    await made.write("away", [message("u1")]);
    await rename(join(project, "away.jsonl"), join(folder, "..", "away.jsonl"));
    await symlink(join(folder, "..", "away.jsonl"), join(project, "away.jsonl"));
    execFileSync("mkfifo", [join(project, "pipe.jsonl")]);
    await mkdir(join(project, "folder.jsonl"));
    const problem = expect.stringMatching(/^it is no file/);
    expect(await made.import()).toMatchObject([
      { sessionId: "away", outcome: "refused", problem },
      { sessionId: "fine", outcome: "imported" },
      { sessionId: "folder", outcome: "refused", problem },
      { sessionId: "pipe", outcome: "refused", problem },
    ]);
    fixture.runtime = fixture.start();
  });

  it("has an index that is not written, also behind a link, and one bad row does not hide the others", async () => {
    await using made = await upstream();
    const { fixture, folder, project } = made;
    await writeFile(join(project, "s.jsonl"), `${JSON.stringify(message("u1"))}\n`);
    const elsewhere = join(folder, "..", "elsewhere");
    await mkdir(elsewhere);
    const database = new DatabaseSync(join(elsewhere, "sessions.db"));
    database.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE session_meta (id TEXT PRIMARY KEY, title TEXT, cwd TEXT, updated_at INT)`);
    const insert = database.prepare("INSERT INTO session_meta VALUES (?, ?, ?, ?)");
    insert.run("bad", "Bad", fixture.cwd, 2n ** 62n);
    insert.run("s", "Good", fixture.cwd, 1_769_940_600n);
    database.close();
    await symlink(join(elsewhere, "sessions.db"), join(folder, "sessions.db"));
    expect(await made.import()).toMatchObject([{ outcome: "imported", title: "Good" }]);
    expect(await readdir(elsewhere)).toEqual(["sessions.db"]);
    fixture.runtime = fixture.start();
  });
});

describe("an import that does not succeed", () => {
  it("leaves nothing a session of that id would begin with", async () => {
    await using made = await upstream();
    const { fixture, project, transcripts } = made;
    await made.write("s", [message("u1")]);
    // What was written up to here is not in its place yet.
    await writeFile(join(project, "s.agents.json"), JSON.stringify([{ agent_id: "a" }]));
    await mkdir(join(project, "s.agents"));
    await writeFile(join(project, "s.agents", "a.jsonl"), `${JSON.stringify(message("x1"))}\n`);
    await mkdir(join(transcripts, "s.jsonl", "in the way"), { recursive: true });
    expect(await made.import()).toMatchObject([{ outcome: "refused" }]);
    expect(await readdir(transcripts)).toEqual(["s.jsonl"]);
    fixture.runtime = fixture.start();
    expect(await refusal(fixture.runtime.sessions.get("s"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
  });

  it.each([
    ["written", "BEFORE INSERT ON agents BEGIN SELECT RAISE(ABORT, 'full'); END"],
    // Fails with the end of the transaction, when the files are in place.
    ["kept", "AFTER INSERT ON agents BEGIN INSERT INTO late VALUES (1); END"],
  ])("leaves nothing when its rows cannot be %s", async (_what, trigger) => {
    await using made = await upstream();
    const { fixture, project, transcripts } = made;
    await made.write("s", [message("u1")]);
    await writeFile(join(project, "s.agents.json"), JSON.stringify([{ agent_id: "a" }]));
    await mkdir(join(project, "s.agents"));
    await writeFile(join(project, "s.agents", "a.jsonl"), `${JSON.stringify(message("x1"))}\n`);
    const path = join(fixture.dataDir, "crabcode", "sessions.sqlite");
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE owner (id INTEGER PRIMARY KEY);
      CREATE TABLE late (id INTEGER REFERENCES owner DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER full ${trigger}`);
    expect(await made.import()).toMatchObject([{ outcome: "refused" }]);
    database.exec("DROP TRIGGER full; DROP TABLE late; DROP TABLE owner");
    database.close();
    expect(await readdir(transcripts)).toEqual([]);
    fixture.runtime = fixture.start();
    expect((await fixture.runtime.sessions.create({ sessionId: "s" })).session.messageCount).toBe(0);
  });

  it("in the search only is made up for by the next start", async () => {
    await using made = await upstream();
    const { fixture } = made;
    await made.write("s", [message("u1", "needle")]);
    await made.import();
    const database = new DatabaseSync(join(fixture.dataDir, "crabcode", "sessions.sqlite"));
    database.exec("DELETE FROM sessions; DELETE FROM session_numbers; DELETE FROM message_texts");
    database.exec(
      "CREATE TRIGGER full BEFORE INSERT ON message_texts BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    expect(await made.import()).toMatchObject([{ outcome: "imported", messageCount: 1 }]);
    database.exec("DROP TRIGGER full");
    database.close();
    fixture.runtime = fixture.start();
    const { sessions } = fixture.runtime;
    expect(await sessions.get("s")).toMatchObject({ messageCount: 1 });
    // It is taken in after the start, beside everything else.
    while ((await sessions.list({ query: "needle" })).totalSize === 0) await fixture.clock.advance(1);
  });

  it("is one of a session whose removal is not over, which would take the new files too", async () => {
    await using made = await upstream();
    const { fixture } = made;
    await made.write("s", [message("u1")]);
    await made.import();
    const database = new DatabaseSync(join(fixture.dataDir, "crabcode", "sessions.sqlite"));
    database.exec("DELETE FROM sessions; INSERT INTO removals VALUES ('s', '/w')");
    database.close();
    const problem = expect.stringMatching(/removed/);
    expect(await made.import()).toMatchObject([{ outcome: "refused", problem }]);
    fixture.runtime = fixture.start();
    await fixture.closeRuntime();
    expect(await made.import()).toMatchObject([{ outcome: "imported", messageCount: 1 }]);
    fixture.runtime = fixture.start();
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    expect((await fixture.runtime.sessions.listMessages({ sessionId: "s" })).totalSize).toBe(1);
  });
});

describe("a session of upstream that is resumed", () => {
  it("comes whole although a removal of that id was not over", async () => {
    await using made = await upstream();
    const { fixture, folder } = made;
    await made.write("s", [message("u1")]);
    await made.import();
    const database = new DatabaseSync(join(fixture.dataDir, "crabcode", "sessions.sqlite"));
    database.exec("DELETE FROM sessions; INSERT INTO removals VALUES ('s', '/w')");
    database.close();
    fixture.runtime = fixture.start({ settings: { userFolder: folder } });
    const both = [fixture.runtime.sessions.resume("s"), fixture.runtime.sessions.resume("s")];
    for (const { session } of await Promise.all(both)) expect(session).toMatchObject({ messageCount: 1 });
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    expect((await fixture.runtime.sessions.listMessages({ sessionId: "s" })).totalSize).toBe(1);
  });
});
