import { lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TriviumError } from "@trivium/core";
import { describe, expect, it } from "vitest";
import type { RunProgram } from "../ports/program-port.ts";
import type { OpenToolbox } from "../ports/toolbox-port.ts";
import { FaultyEventLogs } from "../testing/faulty-event-logs.ts";
import { MemoryToolbox } from "../testing/memory-toolbox.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";
import { runSpawned } from "../testing/spawned-programs.ts";

const bypass = { permissions: { run_everything: true } };
const DAY_MS = 24 * 3_600_000;
const here = { sessionId: "" };

describe("a checkpoint", () => {
  it("is returned to with the conversation and the files, and the revert can be undone", async () => {
    await using fixture = await create([
      { text: "one" },
      { text: "two" },
      { text: "three" },
      { text: "four" },
    ]);
    await write(fixture, "a.txt", "first\n");
    await (await fixture.send("x")).all();
    const bus = await fixture.subscribe();
    const { checkpoint, warning } = await fixture.runtime.checkpoints.create({ ...here, label: "start" });
    expect(warning).toBe("");
    expect(checkpoint).toMatchObject({ label: "start", messageIndex: 1, fileCount: 1, isAutomatic: false });
    expect(checkpoint.checkpointId).toMatch(/^[0-9a-f]{12}$/);
    await (await fixture.send("y")).all();
    await write(fixture, "a.txt", "second\n");
    await write(fixture, "b.txt", "new\n");
    const { checkpointId, snapshotId } = checkpoint;
    const dry = await fixture.runtime.checkpoints.revert({ ...here, checkpointId, isDryRun: true });
    expect(dry).toMatchObject({ filesWritten: ["a.txt"], filesDeleted: ["b.txt"], messagesRolledBack: 2 });
    expect(dry.undoCheckpointId).toBeUndefined();
    expect(await readFile(join(fixture.cwd, "a.txt"), "utf8")).toBe("second\n");
    const reverted = await fixture.runtime.checkpoints.revert({ ...here, checkpointId: "latest" });
    expect(reverted).toMatchObject({
      filesWritten: ["a.txt"],
      filesDeleted: ["b.txt"],
      messagesRolledBack: 2,
      warning: "",
    });
    expect(await readFile(join(fixture.cwd, "a.txt"), "utf8")).toBe("first\n");
    expect(bus.events.slice(-4)).toMatchObject([
      { type: "snapshot", tool_name: "Revert", files: ["a.txt", "b.txt"] },
      { type: "revert", snapshot_id: snapshotId, files_restored: ["a.txt", "b.txt"] },
      { type: "file_change", path: join(fixture.cwd, "a.txt"), action: "modify" },
      { type: "file_change", path: join(fixture.cwd, "b.txt"), action: "delete" },
    ]);
    expect(bus.events.at(-2)?.["diff"]).toContain("-second\n+first");
    await (await fixture.send("z")).all();
    expect(textsOf(fixture, 2)).toEqual(["x", "one", "z"]);
    const undone = await fixture.runtime.checkpoints.revert({
      ...here,
      checkpointId: reverted.undoCheckpointId ?? "",
    });
    expect(undone).toMatchObject({ filesWritten: ["a.txt", "b.txt"], messagesRolledBack: 2 });
    await (await fixture.send("w")).all();
    expect(textsOf(fixture, 3)).toEqual(["x", "one", "y", "two", "w"]);
    bus.leave();
  });

  it("brings back only what is asked for", async () => {
    await using fixture = await create([{ text: "one" }, { text: "two" }]);
    await write(fixture, "a.txt", "first");
    const { checkpoint } = await fixture.runtime.checkpoints.create(here);
    expect(checkpoint).toMatchObject({ messageId: "", messageIndex: -1 });
    const { checkpointId } = checkpoint;
    await (await fixture.send("x")).all();
    await write(fixture, "a.txt", "second");
    const files = await fixture.runtime.checkpoints.revert({ ...here, checkpointId, scope: "files" });
    expect(files).toMatchObject({ filesWritten: ["a.txt"], messagesRolledBack: 0 });
    await write(fixture, "a.txt", "third");
    const talk = await fixture.runtime.checkpoints.revert({ ...here, checkpointId, scope: "conversation" });
    expect(talk).toMatchObject({ filesWritten: [], messagesRolledBack: 2, warning: "" });
    expect(await readFile(join(fixture.cwd, "a.txt"), "utf8")).toBe("third");
    await (await fixture.send("y")).all();
    expect(textsOf(fixture, 1)).toEqual(["y"]);
  });

  it("item 20: a rollback is honoured by a process that takes the session up", async () => {
    await using fixture = await create([{ text: "one" }, { text: "two" }]);
    await (await fixture.send("x")).all();
    const { checkpoint } = await fixture.runtime.checkpoints.create(here);
    await (await fixture.send("y")).all();
    await fixture.runtime.checkpoints.revert({ ...here, checkpointId: checkpoint.checkpointId });
    await using copy = await fixture.afterCrash([{ text: "three" }]);
    const { events } = await copy.runtime.sendMessage({ session: here, text: "z" });
    for await (const _event of events);
    expect(copy.models.requests[0]?.messages.slice(1).map(({ content }) => content[0])).toEqual(
      ["x", "one", "z"].map((text) => ({ type: "text", text })),
    );
    const { checkpoints } = await copy.runtime.checkpoints.list(here);
    expect(checkpoints.map(({ isAutomatic }) => isAutomatic)).toEqual([true, false]);
  });

  it("holds the conversation only without git, and says so", async () => {
    await using fixture = await create([{ text: "one" }], () =>
      Promise.reject(new TriviumError("notFound", "no program git")),
    );
    const { checkpoint, warning } = await fixture.runtime.checkpoints.create(here);
    expect(warning).toBe("no files are kept: git is not installed");
    expect(checkpoint.snapshotId).toBeUndefined();
    await (await fixture.send("x")).all();
    const { checkpointId } = checkpoint;
    await expect(
      fixture.runtime.checkpoints.revert({ ...here, checkpointId, scope: "files" }),
    ).rejects.toMatchObject({ reason: "NO_SNAPSHOT" });
    // What was refused has left nothing behind.
    expect((await fixture.runtime.checkpoints.list(here)).checkpoints).toHaveLength(1);
    expect(await fixture.runtime.checkpoints.revert({ ...here, checkpointId })).toMatchObject({
      messagesRolledBack: 2,
      filesWritten: [],
      warning: "the checkpoint has no files",
    });
  });

  it("waits for the turn that runs, and a call that is gone by then leaves nothing", async () => {
    await using fixture = await create([{ text: "one", hold: "gate" }]);
    const turn = await fixture.send("x");
    await turn.find({ type: "stream_mode" });
    const abort = new AbortController();
    const gone = fixture.runtime.checkpoints.create({ ...here, signal: abort.signal });
    const kept = fixture.runtime.checkpoints.create({ ...here, label: "kept" });
    const goneEnds = expect(gone).rejects.toThrow("enough");
    abort.abort(new Error("enough"));
    await goneEnds;
    fixture.models.release("gate");
    expect((await kept).checkpoint.messageIndex).toBe(1);
    expect((await fixture.runtime.checkpoints.list(here)).checkpoints).toMatchObject([{ label: "kept" }]);
  });

  it("whose caller leaves while its files are kept keeps none", async () => {
    const abort = new AbortController();
    const leaving: RunProgram = async (request) => {
      const result = await runSpawned(request);
      if (request.argv.includes("update-ref")) abort.abort(new Error("enough"));
      return result;
    };
    await using fixture = await create([], leaving);
    await write(fixture, "a.txt", "first");
    const call = fixture.runtime.checkpoints.create({ ...here, signal: abort.signal });
    await expect(call).rejects.toThrow("enough");
    const { sessionId } = await fixture.runtime.listModels("");
    await fixture.runtime.closeSession(sessionId);
    expect(await readdir(join(fixture.dataDir, "crabcode", "snapshots"))).toEqual([]);
  });

  it.each(["the caller leaves", "the session closes"])("ends git with the call when %s", async (how) => {
    const started = Promise.withResolvers<AbortSignal>();
    const endless: RunProgram = ({ signal }) => {
      if (signal === undefined) return Promise.reject(new Error("nobody could end it"));
      started.resolve(signal);
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    };
    await using fixture = await create([], endless);
    const { sessionId } = await fixture.runtime.listModels("");
    const abort = new AbortController();
    const call = fixture.runtime.checkpoints.create({ ...here, signal: abort.signal });
    const callEnds = expect(call).rejects.toThrow(how === "the caller leaves" ? "enough" : "closing");
    const signal = await started.promise;
    if (how === "the caller leaves") abort.abort(new Error("enough"));
    else await fixture.runtime.closeSession(sessionId);
    await callEnds;
    expect(signal.aborted).toBe(true);
    expect((await fixture.runtime.checkpoints.list({ sessionId })).checkpoints).toEqual([]);
  });

  it("does not lose what is edited while it is returned to", async () => {
    let refCount = 0;
    const editing: RunProgram = async (request) => {
      const result = await runSpawned(request);
      // The second is that of the undo checkpoint.
      if (request.argv.includes("update-ref") && ++refCount === 2) await write(fixture, "a.txt", "edited");
      return result;
    };
    await using fixture = await create([], editing);
    await write(fixture, "a.txt", "first");
    await write(fixture, "b.txt", "first");
    await fixture.runtime.checkpoints.create(here);
    await write(fixture, "a.txt", "second");
    await write(fixture, "b.txt", "second");
    expect(await fixture.runtime.checkpoints.revert({ ...here, checkpointId: "latest" })).toMatchObject({
      filesWritten: ["b.txt"],
      warning: "not brought back: a.txt: it was changed meanwhile",
    });
    expect(await readFile(join(fixture.cwd, "a.txt"), "utf8")).toBe("edited");
  });

  it("reports what went wrong with the files, since the conversation is back by then", async () => {
    await using fixture = await create([{ text: "one" }]);
    await write(fixture, "a.txt", "first");
    await fixture.runtime.checkpoints.create(here);
    await (await fixture.send("x")).all();
    await write(fixture, "a.txt", "second");
    fixture.toolbox.onExclusively = () => Promise.reject(new Error("no locks"));
    expect(await fixture.runtime.checkpoints.revert({ ...here, checkpointId: "latest" })).toMatchObject({
      filesWritten: [],
      messagesRolledBack: 2,
      warning: "not brought back: the files: no locks",
    });
    fixture.toolbox.onExclusively = undefined;
  });

  it("keeps its files while it is returned to, however old they become meanwhile", async () => {
    let isReverting = false;
    const openToolbox: OpenToolbox = async (options) => {
      if (isReverting) {
        isReverting = false;
        await fixture.clock.advance(7 * DAY_MS + 1);
        await fixture.runtime.checkpoints.create({ sessionId: "other" });
      }
      return await new MemoryToolbox().open(options);
    };
    await using fixture = await RuntimeFixture.create({
      isDurable: true,
      settings: bypass,
      runtime: { runProgram: runSpawned, openToolbox },
    });
    await fixture.runtime.sessions.create({ sessionId: "other" });
    await write(fixture, "a.txt", "first");
    const { checkpoint } = await fixture.runtime.checkpoints.create(here);
    await write(fixture, "a.txt", "second");
    isReverting = true;
    const call = { ...here, checkpointId: checkpoint.checkpointId };
    expect(await fixture.runtime.checkpoints.revert(call)).toMatchObject({
      filesWritten: ["a.txt"],
      warning: "",
    });
    expect(isReverting).toBe(false);
    // It has outlived its time; with the call it goes.
    const { checkpoints } = await fixture.runtime.checkpoints.list(here);
    expect(checkpoints.at(-1)?.snapshotId).toBeUndefined();
  });

  it("is reported also when its events cannot be written, since the files are back by then", async () => {
    const eventLogs = new FaultyEventLogs();
    await using fixture = await RuntimeFixture.create({
      settings: bypass,
      runtime: { runProgram: runSpawned, eventLogs },
    });
    await write(fixture, "a.txt", "first");
    await fixture.runtime.checkpoints.create(here);
    await write(fixture, "a.txt", "second");
    eventLogs.unwritable = '"revert"';
    expect(await fixture.runtime.checkpoints.revert({ ...here, checkpointId: "latest" })).toMatchObject({
      filesWritten: ["a.txt"],
      warning: "its events could not be written",
    });
  });

  it("is completed by a second revert when the server was killed in the middle of the first", async () => {
    await using fixture = await create([{ text: "one" }]);
    await write(fixture, "a.txt", "first");
    await write(fixture, "gone.txt", "first");
    const { checkpoint } = await fixture.runtime.checkpoints.create(here);
    await (await fixture.send("x")).all();
    await write(fixture, "a.txt", "second");
    await rm(join(fixture.cwd, "gone.txt"));
    const half = Promise.withResolvers<void>();
    const never = Promise.withResolvers<void>();
    fixture.toolbox.onExclusively = async () => {
      half.resolve();
      await never.promise;
    };
    const { checkpointId } = checkpoint;
    const killed = fixture.runtime.checkpoints.revert({ ...here, checkpointId });
    await half.promise;
    fixture.toolbox.onExclusively = undefined;
    await using copy = await fixture.afterCrash();
    // A file that was about to take its place.
    await write(fixture, ".trivium-0123456789abcdef", "fir");
    expect(await copy.runtime.checkpoints.revert({ ...here, checkpointId })).toMatchObject({
      filesWritten: ["a.txt", "gone.txt"],
      filesDeleted: [".trivium-0123456789abcdef"],
      warning: "",
    });
    const { checkpoints } = await copy.runtime.checkpoints.list(here);
    expect(checkpoints.map(({ isAutomatic }) => isAutomatic)).toEqual([true, true, false]);
    never.resolve();
    await killed;
  });

  it("is not returned to while an agent runs, nor when there is none", async () => {
    await using fixture = await create([{ text: "one", hold: "gate" }]);
    await fixture.runtime.checkpoints.create(here);
    await expect(
      fixture.runtime.checkpoints.revert({ ...here, checkpointId: "0123456789ab" }),
    ).rejects.toMatchObject({ reason: "CHECKPOINT_NOT_FOUND" });
    await fixture.runtime.spawnAgent({ session: here, prompt: "p" });
    await expect(
      fixture.runtime.checkpoints.revert({ ...here, checkpointId: "latest" }),
    ).rejects.toMatchObject({ reason: "AGENTS_RUNNING" });
    fixture.models.release("gate");
  });

  it("is made once for one key, also when the server has been started again", async () => {
    await using fixture = await create([]);
    const call = { ...here, label: "l", idempotencyKey: "k" };
    const both = await Promise.all([
      fixture.runtime.checkpoints.create(call),
      fixture.runtime.checkpoints.create(call),
    ]);
    const [first, second] = both.sort((a, b) => Number(a.isReplay) - Number(b.isReplay));
    expect(second).toEqual({ ...first, isReplay: true });
    await expect(fixture.runtime.checkpoints.create({ ...call, label: "m" })).rejects.toMatchObject({
      reason: "IDEMPOTENCY_MISMATCH",
    });
    const checkpointId = first?.checkpoint.checkpointId ?? "";
    const revert = { ...here, checkpointId, idempotencyKey: "k" };
    const reverted = await fixture.runtime.checkpoints.revert(revert);
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    expect(await fixture.runtime.checkpoints.create(call)).toEqual({ ...first, isReplay: true });
    expect(await fixture.runtime.checkpoints.revert(revert)).toEqual({ ...reverted, isReplay: true });
    expect((await fixture.runtime.checkpoints.list(here)).checkpoints).toHaveLength(2);
  });

  it("has a label of at most 200 characters", async () => {
    await using fixture = await create([]);
    const { checkpoint } = await fixture.runtime.checkpoints.create({ ...here, label: "😀".repeat(200) });
    expect(checkpoint.label).toBe("😀".repeat(200));
    await expect(
      fixture.runtime.checkpoints.create({ ...here, label: "x".repeat(201) }),
    ).rejects.toMatchObject({ reason: "FIELD_INVALID", field: "label" });
  });

  it("is listed newest first, page by page, without loading its session", async () => {
    await using fixture = await create([]);
    for (const label of ["a", "b", "c"]) await fixture.runtime.checkpoints.create({ ...here, label });
    const { sessionId } = await fixture.runtime.listModels("");
    await fixture.runtime.closeSession(sessionId);
    const first = await fixture.runtime.checkpoints.list({ sessionId, pageSize: 2 });
    expect(first.checkpoints.map(({ label }) => label)).toEqual(["c", "b"]);
    const pageToken = first.nextPageToken;
    const last = await fixture.runtime.checkpoints.list({ sessionId, pageSize: 5, pageToken });
    expect(last).toMatchObject({ checkpoints: [{ label: "a" }], nextPageToken: "" });
    expect((await fixture.runtime.sessions.get(sessionId)).state).toBe("stored");
    await expect(
      fixture.runtime.checkpoints.list({ sessionId, pageToken: "nonsense" }),
    ).rejects.toMatchObject({ reason: "PAGE_TOKEN_INVALID" });
    await expect(fixture.runtime.checkpoints.list({ sessionId: "nope" })).rejects.toMatchObject({
      reason: "SESSION_NOT_FOUND",
    });
  });

  it("loses its files after seven days and everything with its session", async () => {
    await using fixture = await create([]);
    await write(fixture, "a.txt", "first");
    await fixture.runtime.checkpoints.create({ ...here, label: "old" });
    await write(fixture, "a.txt", "second");
    await fixture.clock.advance(7 * DAY_MS + 1);
    await fixture.runtime.checkpoints.create({ ...here, label: "young" });
    const { checkpoints, sessionId } = await fixture.runtime.checkpoints.list(here);
    expect(checkpoints).toMatchObject([
      { label: "young", fileCount: 1 },
      { label: "old", fileCount: 0 },
    ]);
    expect(checkpoints[1]?.snapshotId).toBeUndefined();
    await fixture.runtime.sessions.create({ sessionId: "other" });
    await fixture.runtime.checkpoints.create({ sessionId: "other" });
    await fixture.runtime.sessions.archive("other");
    await fixture.runtime.sessions.delete("other");
    const snapshots = join(fixture.dataDir, "crabcode", "snapshots");
    const [repository = ""] = await readdir(snapshots);
    expect(await readdir(join(snapshots, repository, "refs", "sessions"))).toHaveLength(1);
    expect((await fixture.runtime.checkpoints.list({ sessionId })).checkpoints).toHaveLength(2);
  });
});

describe("the tools", () => {
  const checkpoint = { id: "c1", name: "Checkpoint", input: { label: "mine" } };
  const revert = { id: "c2", name: "Revert", input: { checkpoint_id: "latest" } };

  it("return to a state within the conversation; the turn that does so stays whole", async () => {
    await using fixture = await create([
      { tool_calls: [checkpoint] },
      { text: "kept" },
      { text: "between" },
      { tool_calls: [revert] },
      { text: "back" },
    ]);
    await write(fixture, "a.txt", "first");
    await (await fixture.send("keep this")).all();
    await write(fixture, "a.txt", "second");
    await (await fixture.send("forget this")).all();
    const turn = await (await fixture.send("go back")).all();
    const types = turn.map(({ type }) => type).filter((type) => type !== "stream_mode");
    expect(types).toEqual([
      "tool_use",
      "snapshot",
      "revert",
      "file_change",
      "tool_result",
      "stream_text",
      "turn_complete",
    ]);
    expect(await readFile(join(fixture.cwd, "a.txt"), "utf8")).toBe("first");
    // The checkpoint was made before the call that made it had its result.
    expect(kindsOf(fixture, 4)).toEqual(["text", "text", "tool_use", "tool_result"]);
    expect(textsOf(fixture, 4).slice(0, 2)).toEqual(["keep this", "go back"]);
  });

  it("ask for permission and are not for agents", async () => {
    await using fixture = await create(
      [{ tool_calls: [checkpoint] }, { text: "no" }, { text: "a" }],
      undefined,
      {},
    );
    const turn = await fixture.send("x");
    const { tool_use_id } = await turn.find({ type: "permission_request", tool_name: "Checkpoint" });
    expect(tool_use_id).toBe("c1");
    await fixture.runtime.respondPermission({ ...here, toolUseId: "c1", isAllowed: false });
    await turn.all();
    expect((await fixture.runtime.checkpoints.list(here)).checkpoints).toEqual([]);
    const { agentId } = await fixture.runtime.spawnAgent({ session: here, prompt: "p" });
    await fixture.runtime.waitAgent({ ...here, agentIds: [agentId] });
    const offered = fixture.models.requests.at(-1)?.tools.map(({ name }) => name);
    expect(offered).toContain("Bash");
    expect(offered).not.toContain("Checkpoint");
    expect(offered).not.toContain("Revert");
  });
});

it("a runtime without a data folder keeps the conversation only", async () => {
  await using fixture = await RuntimeFixture.create({
    isInMemory: true,
    runtime: { runProgram: runSpawned },
  });
  const { warning } = await fixture.runtime.checkpoints.create(here);
  expect(warning).toBe("no files are kept: this server keeps none");
  await expect(lstat(join(fixture.dataDir, "crabcode"))).rejects.toThrow("ENOENT");
});

function create(
  script: readonly ScriptEntry[],
  runProgram: RunProgram = runSpawned,
  settings: Readonly<Record<string, unknown>> = bypass,
): Promise<RuntimeFixture> {
  return RuntimeFixture.create({ isDurable: true, script, settings, runtime: { runProgram } });
}

async function write({ cwd }: RuntimeFixture, path: string, content: string): Promise<void> {
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, path), content);
}

/** What a request holds behind the user's context: the first block of each message. */
function blocksOf({ models }: RuntimeFixture, request: number) {
  return (models.requests[request]?.messages ?? []).slice(1).flatMap(({ content }) => content.slice(0, 1));
}

function kindsOf(fixture: RuntimeFixture, request: number): string[] {
  return blocksOf(fixture, request).map(({ type }) => type);
}

function textsOf(fixture: RuntimeFixture, request: number): string[] {
  return blocksOf(fixture, request).map((block) => (block.type === "text" ? block.text : block.type));
}
