import { existsSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

const inSession = { session: { sessionId: "s", create: true } };

/** A session `s` whose turn waits for `release("go")`. */
async function busySession() {
  const fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "go" }] });
  const turn = await fixture.send("x", inSession);
  await turn.find({ type: "stream_mode" });
  return { fixture, turn, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

describe("the default session", () => {
  it("is what an empty id means to calls that only look, made by the first of them, and not loaded", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions, questions } = fixture.runtime;
    const session = await sessions.get("");
    expect(session).toMatchObject({
      state: "stored",
      isDefault: true,
      cwd: fixture.cwd,
      epoch: "",
      headSeq: 0,
    });
    expect(await sessions.listMessages({ sessionId: "" })).toMatchObject({ sessionId: session.sessionId });
    expect(await questions.list({ sessionId: "" })).toMatchObject({ sessionId: session.sessionId });
    expect((await sessions.listTools("", "")).sessionId).toBe(session.sessionId);
    expect((await fixture.runtime.listModels("")).sessionId).toBe(session.sessionId);
    expect(await sessions.get("")).toMatchObject({ state: "idle" });
  });

  it.each(["resume", "archive", "unarchive", "close", "delete"] as const)(
    "has to be named to %s it",
    async (method) => {
      await using fixture = await RuntimeFixture.create();
      const { sessions } = fixture.runtime;
      expect(await refusal(sessions[method](""))).toMatchObject({
        reason: "FIELD_INVALID",
        field: "session_id",
      });
      expect(await refusal(sessions[method]("nope"))).toMatchObject({
        reason: "SESSION_NOT_FOUND",
        kind: "notFound",
      });
    },
  );

  it("can be archived, never deleted", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    const { sessionId } = await sessions.get("");
    await sessions.archive(sessionId);
    expect(await refusal(sessions.delete(sessionId))).toMatchObject({
      reason: "NOT_ARCHIVED",
      kind: "failedPrecondition",
    });
    expect((await fixture.runtime.listModels("")).sessionId).toBe(sessionId);
  });
});

describe("a session that is resumed", () => {
  it("is loaded, out of the archive, and stays as it is when it was", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s", mode: "plan" });
    await sessions.archive("s");
    const resumed = await sessions.resume("s");
    expect(resumed).toMatchObject({
      session: { state: "idle", mode: "agent" },
      stoppedAgentCount: 0,
      isTurnRecovered: false,
    });
    await fixture.runtime.switchMode("s", "plan");
    expect(await sessions.resume("s")).toMatchObject({ session: { state: "idle", mode: "plan" } });
  });

  it("says once what an earlier process left unfinished", async () => {
    const script = [
      { agent: 1, text: "b", hold: "agent" },
      { agent: null, text: "a", hold: "turn" },
    ];
    await using fixture = await RuntimeFixture.create({ script, isDurable: true });
    const turn = await fixture.send("x", inSession);
    await turn.find({ type: "stream_mode" });
    const watcher = await fixture.watch({ sessionId: "s" });
    await fixture.runtime.spawnAgent({ session: { sessionId: "s" }, prompt: "p" });
    await watcher.find({ type: "agent_state", status: "running" });
    await using crashed = await fixture.afterCrash();
    const { sessions } = crashed.runtime;
    expect(await sessions.get("s")).toMatchObject({ state: "stored", activeAgentCount: 0 });
    expect(await sessions.resume("s")).toMatchObject({
      session: { state: "idle" },
      stoppedAgentCount: 1,
      isTurnRecovered: true,
    });
    expect(await sessions.resume("s")).toMatchObject({ stoppedAgentCount: 0, isTurnRecovered: false });
  });
});

describe("a title", () => {
  it("is the beginning of the first message until the session is renamed for good", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }, { text: "b" }] });
    const { sessions } = fixture.runtime;
    await (await fixture.send(`${"🦀".repeat(199)}éx`, inSession)).all();
    const session = await sessions.get("s");
    expect(session.title).toBe(`${"🦀".repeat(199)}é`);
    expect(session.firstUserMessage).toBe(`${"🦀".repeat(199)}éx`);
    await fixture.clock.advance(5);
    const renamed = await sessions.rename("s", `  ${"é".repeat(200)} `);
    expect(renamed).toMatchObject({ title: "é".repeat(200), updatedAtMs: fixture.clock.now() });
    await (await fixture.send("more", inSession)).all();
    expect(await sessions.get("s")).toMatchObject({ title: "é".repeat(200), messageCount: 4 });
  });

  it("that was given is not replaced by the first message", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    await fixture.runtime.sessions.create({ sessionId: "s", title: "mine" });
    await (await fixture.send("x", inSession)).all();
    expect(await fixture.runtime.sessions.get("s")).toMatchObject({ title: "mine", firstUserMessage: "x" });
  });

  it.each([" ", "é".repeat(201), "a\u0007"])("that is %j is refused", async (title) => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s", title: "before" });
    expect(await refusal(sessions.rename("s", title))).toMatchObject({
      reason: "FIELD_INVALID",
      field: "title",
    });
    expect(await refusal(sessions.rename("", "x"))).toMatchObject({ field: "session_id" });
    expect(await refusal(sessions.rename("nope", "x"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
    expect(await sessions.get("s")).toMatchObject({ title: "before" });
  });
});

describe("a session that is closed", () => {
  it("stays stored and may be closed again", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    const watcher = await fixture.watch({ sessionId: "s" });
    await sessions.close("s");
    await watcher.ended;
    expect(await sessions.get("s")).toMatchObject({ state: "stored" });
    expect(await sessions.close("s")).toEqual({ sessionId: "s" });
  });

  it.each(["close", "archive"] as const)("is left alone by %s while it is busy", async (method) => {
    await using made = await busySession();
    const { fixture, turn } = made;
    const { sessions } = fixture.runtime;
    expect(await refusal(sessions[method]("s"))).toMatchObject({
      reason: "SESSION_BUSY",
      kind: "failedPrecondition",
    });
    fixture.models.release("go");
    expect((await turn.all()).at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
  });

  it.each([
    ["close", "stored"],
    ["archive", "archived"],
  ] as const)("is interrupted by %s when that is wanted", async (method, state) => {
    await using made = await busySession();
    const { fixture, turn } = made;
    const { sessions } = fixture.runtime;
    await sessions[method]("s", { interrupt: true });
    expect((await turn.all()).at(-1)).toMatchObject({ type: "turn_complete", reason: "interrupted" });
    expect(await sessions.get("s")).toMatchObject({ state });
  });

  it("counts as busy while only an agent works, which is stopped then", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ agent: 1, text: "b", hold: "go" }] });
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    await fixture.runtime.spawnAgent({ session: { sessionId: "s" }, prompt: "p" });
    expect(await sessions.get("s")).toMatchObject({ state: "busy", activeAgentCount: 1 });
    expect(await refusal(sessions.close("s"))).toMatchObject({ reason: "SESSION_BUSY" });
    await sessions.close("s", { interrupt: true });
    expect((await fixture.runtime.listAgents("s")).agents).toMatchObject([{ status: "stopped" }]);
  });
});

describe("the archive", () => {
  it("takes a session twice and gives it back twice", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    expect(await sessions.unarchive("s")).toMatchObject({ state: "idle" });
    expect(await sessions.archive("s")).toMatchObject({ state: "archived" });
    expect(await sessions.archive("s")).toMatchObject({ state: "archived" });
    expect(await sessions.unarchive("s")).toMatchObject({ state: "stored" });
    expect(await sessions.unarchive("s")).toMatchObject({ state: "stored" });
  });

  it("gives a session back to whoever talks in it", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    await sessions.archive("s");
    await (await fixture.send("x", { session: { sessionId: "s" } })).all();
    expect(await sessions.get("s")).toMatchObject({ state: "idle" });
  });
});

describe("a session that is deleted", () => {
  it("has to be in the archive", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    expect(await refusal(sessions.delete("s"))).toMatchObject({ reason: "NOT_ARCHIVED" });
    await sessions.close("s");
    expect(await refusal(sessions.delete("s"))).toMatchObject({ reason: "NOT_ARCHIVED" });
  });

  it("leaves nothing: no file, no row, no event, no key", async () => {
    const script = [
      { text: "a" },
      { agent: 1, tool_calls: [{ id: "c", name: "Bash", input: { command: "ls" } }] },
      { agent: 1, text: "b" },
    ];
    await using fixture = await RuntimeFixture.create({ script, isDurable: true });
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s", idempotencyKey: "k" });
    await (await fixture.send("x", { ...inSession, idempotencyKey: "m" })).all();
    const watcher = await fixture.watch({ sessionId: "s" });
    const { agentId } = await fixture.runtime.spawnAgent({
      session: { sessionId: "s" },
      prompt: "p",
      isInteractive: false,
      idempotencyKey: "a",
    });
    await fixture.runtime.waitAgent({ sessionId: "s", agentIds: [agentId] });
    await fixture.runtime.switchModel("s", "other");
    watcher.leave();
    const transcripts = join(fixture.dataDir, "crabcode", "transcripts");
    expect(existsSync(join(transcripts, "s.agents", `${agentId}.jsonl`))).toBe(true);
    await sessions.archive("s");
    expect(await sessions.delete("s")).toEqual({ sessionId: "s" });
    expect(await refusal(sessions.get("s"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
    expect(existsSync(join(transcripts, "s.jsonl"))).toBe(false);
    expect(existsSync(join(transcripts, "s.agents"))).toBe(false);
    expect(await fixture.eventLogs.head("crabcode-s")).toBeUndefined();
    await fixture.closeRuntime();
    expect(rowsOf(join(fixture.dataDir, "crabcode", "sessions.sqlite"))).toEqual({});
    fixture.runtime = fixture.start();
  });

  it("leaves nothing of a turn and an agent that a crash cut, although it was never loaded since", async () => {
    const read = (agent: number | null) => ({
      agent,
      tool_calls: [{ id: "c", name: "Bash", input: { command: "ls" } }],
    });
    const settings = { permissions: { allow: [{ tool: "Bash" }] } };
    await using fixture = await RuntimeFixture.create({
      script: [read(null), read(1)],
      settings,
      isDurable: true,
    });
    const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let count = 0;
    fixture.toolbox.onCommand = ({ signal }) => {
      started[count++]?.resolve();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({})));
    };
    await fixture.send("x", { ...inSession, isDetached: true });
    await started[0]?.promise;
    await fixture.runtime.spawnAgent({ session: { sessionId: "s" }, prompt: "p" });
    await started[1]?.promise;
    await using crashed = await fixture.afterCrash();
    const index = join(crashed.dataDir, "crabcode", "sessions.sqlite");
    expect(rowsOf(index)).toMatchObject({ started_calls: 2, operations: 1, agents: 1 });
    await crashed.runtime.sessions.archive("s");
    await crashed.runtime.sessions.delete("s");
    expect(rowsOf(index)).toEqual({});
  });

  it("is gone although a file of it cannot be removed, which the next start does", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const { sessions } = fixture.runtime;
    await (await fixture.send("x", inSession)).all();
    await sessions.archive("s");
    const transcript = join(fixture.dataDir, "crabcode", "transcripts", "s.jsonl");
    await rm(transcript);
    // Not even root removes a folder as a file.
    await mkdir(transcript);
    await sessions.delete("s");
    expect(await refusal(sessions.get("s"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
    await expect(sessions.create({ sessionId: "s" })).rejects.toThrow(/EISDIR|ERR_FS_EISDIR|directory/);
    await fixture.closeRuntime();
    await rm(transcript, { recursive: true });
    await writeFile(transcript, "");
    await chmod(transcript, 0o600);
    fixture.runtime = fixture.start();
    await fixture.closeRuntime();
    expect(existsSync(transcript)).toBe(false);
    fixture.runtime = fixture.start();
    expect((await fixture.runtime.sessions.create({ sessionId: "s" })).session.messageCount).toBe(0);
  });
});

/** Number of rows by table, of tables that have any; the default session is none here. */
function rowsOf(path: string): Record<string, number> {
  const database = new DatabaseSync(path);
  const names = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'message_index%'",
    )
    .all()
    .map(({ name }) => String(name));
  const counts = names.map(
    (name) => [name, Number(database.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.["n"])] as const,
  );
  database.close();
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

describe("an interrupt", () => {
  it("ends the turn that runs, leaves what waits, and says which it was", async () => {
    await using made = await busySession();
    const { fixture, turn } = made;
    const { sessions } = fixture.runtime;
    fixture.models.entries.push({ text: "next" });
    const next = await fixture.send("y", inSession);
    const started = await turn.find({ type: "stream_mode" });
    const interrupted = await sessions.interrupt("s");
    expect(interrupted).toEqual({
      sessionId: "s",
      isInterrupted: true,
      operationId: started["operation_id"],
    });
    expect((await turn.all()).at(-1)).toMatchObject({ reason: "interrupted" });
    expect((await next.all()).at(-1)).toMatchObject({ reason: "end_turn" });
  });

  it("means only the operation that it names", async () => {
    await using made = await busySession();
    const { fixture, turn } = made;
    const { sessions } = fixture.runtime;
    const nothing = { sessionId: "s", isInterrupted: false, operationId: "" };
    expect(await sessions.interrupt("s", "0".repeat(32))).toEqual(nothing);
    const { operation_id: operationId } = await turn.find({ type: "stream_mode" });
    expect(await sessions.interrupt("s", String(operationId))).toMatchObject({ isInterrupted: true });
    expect(await sessions.interrupt("s")).toEqual(nothing);
  });

  it("of a session that is not loaded loads nothing; of none it is refused", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    await sessions.close("s");
    expect(await sessions.interrupt("s")).toMatchObject({ isInterrupted: false });
    expect(await sessions.get("s")).toMatchObject({ state: "stored" });
    expect(await refusal(sessions.interrupt("nope"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
  });
});

describe("a compaction that a client wants", () => {
  it("needs enough messages, short instructions and a session", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const { sessions } = fixture.runtime;
    await (await fixture.send("x", inSession)).all();
    expect(await refusal(sessions.compact({ sessionId: "s" }))).toMatchObject({
      reason: "NOTHING_TO_COMPACT",
      kind: "failedPrecondition",
    });
    const long = { sessionId: "s", instructions: "é".repeat(4001) };
    expect(await refusal(sessions.compact(long))).toMatchObject({
      reason: "FIELD_INVALID",
      field: "instructions",
    });
    expect(await refusal(sessions.compact({ sessionId: "nope" }))).toMatchObject({
      reason: "SESSION_NOT_FOUND",
    });
  });
});
