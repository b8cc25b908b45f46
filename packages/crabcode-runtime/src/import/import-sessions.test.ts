import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import { importSessions } from "./import-sessions.ts";
import type { ImportedSession } from "./session-importer.ts";

const ID = "0f8d1c2b-3a49-4867-8594-a3b2c1d0e9f8";

interface Upstream extends AsyncDisposable {
  readonly fixture: RuntimeFixture;
  readonly folder: string;
  readonly project: string;
  import(): Promise<ImportedSession[]>;
}

/** A folder of upstream beside a data folder that nobody has open. */
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
    import: () => importSessions({ folder, dataDir, workspaceRoots: [cwd] }),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

function lines(rows: readonly unknown[]): string {
  return rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join("");
}

const user = (uuid: string, content: unknown) => ({
  type: "user",
  uuid,
  timestamp: "2026-02-01T10:00:00Z",
  content,
});
const assistant = (uuid: string, content: unknown, more: object = {}) => ({
  ...user(uuid, content),
  type: "assistant",
  ...more,
});

describe("an imported session", () => {
  it("has its messages, title, times and counts, can be found and goes on", async () => {
    await using made = await upstream();
    const { fixture, project } = made;
    const meta = {
      type: "session_meta",
      id: ID,
      title: "Old work",
      cwd: fixture.cwd,
      first_user_message: "Fix it",
      tokens_used: 77,
      git_branch: "main",
      created_at: 1_769_940_000,
      updated_at: 1_769_940_600,
      is_archived: false,
    };
    const path = join(project, `${ID}.jsonl`);
    const text = lines([
      { ...meta, title: "Older" },
      user("u1", "Fix it"),
      "",
      '{"type":"assis',
      assistant("a1", [
        { type: "thinking", thinking: "hm" },
        { type: "signature", signature: "sig" },
        { type: "text", text: "Looking" },
        { type: "tool_use", id: "t1", name: "Read", input: { file_path: "a" } },
        { type: "unheard_of" },
      ]),
      user("u2", [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "content" }] }]),
      user("u2", "the same line again"),
      { type: "system", uuid: "s1", content: "note" },
      assistant("a2", "Done with the needle", { origin: "partial" }),
      user("u3", [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }]),
      meta,
    ]);
    await writeFile(path, text);
    expect(await made.import()).toEqual([
      {
        sessionId: ID,
        path,
        outcome: "imported",
        problem: "",
        title: "Old work",
        messageCount: 5,
        agentCount: 0,
      },
    ]);
    expect(await readFile(path, "utf8")).toBe(text);
    fixture.runtime = fixture.start();
    const { sessions } = fixture.runtime;
    expect((await sessions.list({ query: "NEEDLE" })).sessions).toMatchObject([
      {
        sessionId: ID,
        title: "Old work",
        cwd: fixture.cwd,
        state: "stored",
        messageCount: 5,
        tokensUsed: 77,
        gitBranch: "main",
        firstUserMessage: "Fix it",
        createdAtMs: 1_769_940_000_000,
      },
    ]);
    const { messages } = await sessions.listMessages({ sessionId: ID });
    expect(messages.map(({ messageId }) => messageId)).toEqual(["u1", "a1", "u2", "a2", "u3"]);
    expect(messages.map(({ message }) => message)).toEqual([
      { role: "user", content: [{ type: "text", text: "Fix it" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", provider_meta: { anthropic: { signature: "sig" } } },
          { type: "text", text: "Looking" },
          { type: "tool_use", id: "t1", name: "Read", input: { file_path: "a" } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t1", content: "content", is_error: false }],
      },
      { role: "assistant", content: [{ type: "text", text: "Done with the needle" }], origin: "partial" },
      { role: "user", content: [{ type: "text", text: "[image: image/png]" }] },
    ]);
    fixture.models.entries.push({ text: "going on" });
    await (await fixture.send("more", { session: { sessionId: ID } })).all();
    expect(fixture.models.requests.at(-1)?.messages.length).toBeGreaterThan(5);
    expect(await sessions.get(ID)).toMatchObject({ title: "Old work", messageCount: 7 });
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("is as a rollback left it for the model, and whole in its history", async () => {
    await using made = await upstream();
    const { fixture, project } = made;
    await writeFile(
      join(project, `${ID}.jsonl`),
      lines([
        { type: "session_meta", cwd: fixture.cwd },
        user("u1", "one"),
        assistant("a1", "re one"),
        { type: "checkpoint", checkpoint_id: "c1", message_uuid: "a1", message_index: 1, label: "" },
        user("u2", "two"),
        assistant("a2", "re two"),
        { type: "rollback", checkpoint_id: "c1", rollback_to_index: 1 },
      ]),
    );
    await made.import();
    fixture.runtime = fixture.start();
    const list = async (isProjected: boolean): Promise<string[]> => {
      const page = await fixture.runtime.sessions.listMessages({ sessionId: ID, isProjected });
      return page.messages.map(({ messageId }) => messageId);
    };
    expect(await list(false)).toEqual(["u1", "a1", "u2", "a2"]);
    expect(await list(true)).toEqual(["u1", "a1"]);
  });

  it("has one result for every call, whatever a crash left", async () => {
    await using made = await upstream();
    const { fixture, project } = made;
    const call = (id: string) => ({ type: "tool_use", id, name: "Read", input: {} });
    const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok", is_error: false });
    await writeFile(
      join(project, `${ID}.jsonl`),
      lines([
        { type: "session_meta", cwd: fixture.cwd },
        user("u1", "go"),
        assistant("a1", [call("c1"), call("c2")]),
        user("u2", [{ type: "text", text: "next" }, result("c2"), result("stray")]),
        assistant("a2", [call("c3")]),
        assistant("a3", "hm"),
      ]),
    );
    await made.import();
    fixture.runtime = fixture.start();
    const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: ID });
    const shapes = messages.map(({ message }) =>
      message.content.map((block) =>
        block.type === "tool_result" ? `${block.tool_use_id} ${block.content}` : block.type,
      ),
    );
    expect(shapes).toEqual([
      ["text"],
      ["tool_use", "tool_use"],
      ["c2 ok", "c1 Interrupted", "text"],
      ["tool_use"],
      ["c3 Interrupted"],
      ["text"],
    ]);
  });

  it("brings its agents, which are over", async () => {
    await using made = await upstream();
    const { fixture, project } = made;
    await writeFile(
      join(project, `${ID}.jsonl`),
      lines([{ type: "session_meta", cwd: fixture.cwd }, user("u1", "go")]),
    );
    const agents = [
      {
        agent_id: "a-1",
        title: "Counting",
        subagent_type: "explore",
        status: "completed",
        final_result: "12",
        depth: 1,
        usage: { input_tokens: 3 },
        created_at: "2026-02-01T10:00:00.123456+00:00",
        finished_at: "2026-02-01T10:00:05+00:00",
      },
      {
        agent_id: "a-2",
        parent_agent_id: "a-1",
        status: "running",
        callback_enabled: true,
        callback_state: "pending",
      },
      { agent_id: "../evil", status: "completed" },
    ];
    await writeFile(join(project, `${ID}.agents.json`), JSON.stringify(agents));
    await mkdir(join(project, `${ID}.agents`));
    await writeFile(
      join(project, `${ID}.agents`, "a-1.jsonl"),
      lines([user("x1", "count"), assistant("x2", "12")]),
    );
    expect(await made.import()).toMatchObject([{ outcome: "imported", agentCount: 2 }]);
    fixture.runtime = fixture.start();
    const list = await fixture.runtime.listAgents(ID);
    expect([...list.agents].sort((a, b) => (a.agentId < b.agentId ? -1 : 1))).toMatchObject([
      {
        agentId: "a-1",
        title: "Counting",
        subagentType: "explore",
        status: "completed",
        finalResult: "12",
        usage: { input_tokens: 3 },
        createdAt: "2026-02-01T10:00:00.123Z",
      },
      { agentId: "a-2", parentAgentId: "a-1", status: "stopped", error: "session ended", hasCallback: false },
    ]);
    const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: ID, agentId: "a-1" });
    expect(messages.map(({ messageId }) => messageId)).toEqual(["x1", "x2"]);
  });

  it("takes from the index of upstream what its transcript does not say, and leaves that alone", async () => {
    await using made = await upstream();
    const { fixture, folder, project } = made;
    await writeFile(join(project, `${ID}.jsonl`), lines([user("u1", "go")]));
    const database = new DatabaseSync(join(folder, "sessions.db"));
    database.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE session_meta (id TEXT PRIMARY KEY, title TEXT, cwd TEXT, is_archived INT, updated_at INT)`);
    database
      .prepare("INSERT INTO session_meta VALUES (?, 'From the index', ?, 1, 1769940600)")
      .run(ID, fixture.cwd);
    const before = (await readdir(folder)).sort();
    expect(await made.import()).toMatchObject([{ outcome: "imported", title: "From the index" }]);
    expect((await readdir(folder)).sort()).toEqual(before);
    database.close();
    fixture.runtime = fixture.start();
    expect(await fixture.runtime.sessions.get(ID)).toMatchObject({ state: "archived" });
  });
});

describe("a session of upstream that is resumed", () => {
  it("is copied first, once, and only where it may work", async () => {
    await using made = await upstream();
    const { fixture, folder, project } = made;
    const outside = { type: "session_meta", cwd: fixture.dataDir };
    await writeFile(join(project, "outside.jsonl"), lines([outside, user("u1", "x")]));
    const inside = { type: "session_meta", cwd: fixture.cwd, title: "Old" };
    await writeFile(join(project, `${ID}.jsonl`), lines([inside, user("u1", "go"), assistant("a1", "ok")]));
    fixture.runtime = fixture.start({ settings: { userFolder: folder } });
    const { sessions } = fixture.runtime;
    expect(await refusal(sessions.get(ID))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
    const [first, second] = await Promise.all([sessions.resume(ID), sessions.resume(ID)]);
    expect(first.session).toMatchObject({ title: "Old", state: "idle", messageCount: 2 });
    expect(second.session).toEqual(first.session);
    expect((await sessions.listMessages({ sessionId: ID })).totalSize).toBe(2);
    expect(await refusal(sessions.resume("outside"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
    expect(await refusal(sessions.resume("../x"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
  });
});

describe("an import", () => {
  it("leaves out what cannot work here, and says why; twice changes nothing", async () => {
    await using made = await upstream();
    const { fixture, project } = made;
    const session = async (name: string, cwd?: string): Promise<void> =>
      writeFile(join(project, `${name}.jsonl`), lines([{ type: "session_meta", cwd }, user("u", "x")]));
    await session("gone", join(fixture.cwd, "nowhere"));
    await session("homeless");
    await session("-bad", fixture.cwd);
    await session("outside", fixture.dataDir);
    await session("fine", fixture.cwd);
    const seen = (await made.import()).map(({ sessionId, problem }) => [sessionId, problem]);
    expect(seen).toEqual([
      ["-bad", "its name is no session id"],
      ["fine", ""],
      ["gone", expect.stringMatching(/does not exist$/)],
      ["homeless", "it does not say in which folder it works"],
      ["outside", expect.stringMatching(/outside the workspace/)],
    ]);
    const transcript = join(fixture.dataDir, "crabcode", "transcripts", "fine.jsonl");
    const first = await readFile(transcript, "utf8");
    expect((await made.import()).find(({ sessionId }) => sessionId === "fine")?.outcome).toBe("present");
    expect(await readFile(transcript, "utf8")).toBe(first);
    expect(existsSync(join(fixture.dataDir, "crabcode", "transcripts", "outside.jsonl"))).toBe(false);
    fixture.runtime = fixture.start();
  });

  it("is refused while a server has the folder, and for a folder that is none", async () => {
    await using made = await upstream();
    const { fixture } = made;
    fixture.runtime = fixture.start();
    await expect(made.import()).rejects.toMatchObject({ kind: "failedPrecondition" });
    const { dataDir, cwd } = fixture;
    await expect(
      importSessions({ folder: "/no/such", dataDir, workspaceRoots: [cwd] }),
    ).rejects.toMatchObject({ kind: "notFound" });
  });
});
