import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

describe("a session that is made", () => {
  it("is loaded, and described as it is", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    const { session, isReplay } = await sessions.create({
      sessionId: "s1",
      title: " Add login ",
      mode: "plan",
    });
    expect(isReplay).toBe(false);
    expect(session).toEqual({
      sessionId: "s1",
      title: "Add login",
      cwd: fixture.cwd,
      state: "idle",
      mode: "plan",
      modelProfile: "script",
      createdAtMs: fixture.clock.now(),
      updatedAtMs: fixture.clock.now(),
      messageCount: 0,
      activeAgentCount: 0,
      pendingQuestionCount: 0,
      epoch: expect.stringMatching(/^[\w-]+$/),
      headSeq: 0,
      firstUserMessage: "",
      tokensUsed: 0,
      gitBranch: undefined,
      isDefault: false,
    });
    expect(await sessions.get("s1")).toEqual(session);
  });

  it("gets an id of the server's, the first workspace root, and keeps its profile", async () => {
    await using fixture = await RuntimeFixture.create();
    const { session } = await fixture.runtime.sessions.create({ modelProfile: "other" });
    expect(session.sessionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(session).toMatchObject({ cwd: fixture.cwd, modelProfile: "other", mode: "agent", title: "" });
    await fixture.runtime.sessions.close(session.sessionId);
    expect((await fixture.runtime.listModels(session.sessionId)).currentModel).toBe("other");
  });

  it("works in a folder inside a root, links resolved, on the branch that is checked out there", async () => {
    await using fixture = await RuntimeFixture.create();
    const inner = join(fixture.cwd, "inner");
    await mkdir(join(fixture.cwd, ".git"));
    await writeFile(join(fixture.cwd, ".git", "HEAD"), "ref: refs/heads/feature/x\nand more\u001b[2J");
    await mkdir(inner);
    await symlink(inner, join(fixture.cwd, "link"));
    const { session } = await fixture.runtime.sessions.create({ cwd: join(fixture.cwd, "link") });
    expect(session).toMatchObject({ cwd: inner, gitBranch: "feature/x" });
    await writeFile(join(fixture.cwd, ".git", "HEAD"), "0123456789abcdef\n");
    const detached = await fixture.runtime.sessions.create({ cwd: inner });
    expect(detached.session.gitBranch).toBeUndefined();
  });

  it("has the branch of a work tree beside its repository", async () => {
    await using fixture = await RuntimeFixture.create();
    await mkdir(join(fixture.cwd, "repo", "trees", "w"), { recursive: true });
    await writeFile(join(fixture.cwd, "repo", "trees", "w", "HEAD"), "ref: refs/heads/side\n");
    await mkdir(join(fixture.cwd, "tree"));
    await writeFile(join(fixture.cwd, "tree", ".git"), "gitdir: ../repo/trees/w\n");
    const { session } = await fixture.runtime.sessions.create({ cwd: join(fixture.cwd, "tree") });
    expect(session.gitBranch).toBe("side");
  });

  it("can be the one that another call makes by metadata, never twice", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const made = await Promise.allSettled([
      fixture.runtime.sessions.create({ sessionId: "s" }),
      fixture.runtime.sessions.create({ sessionId: "s" }),
    ]);
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    expect(await fixture.runtime.sessions.get("s")).toMatchObject({ messageCount: 2, title: "x" });
  });

  it.each([
    ["an id with a slash", { sessionId: "a/b" }, { reason: "SESSION_ID_INVALID", kind: "invalidInput" }],
    ["a relative folder", { cwd: "work" }, { reason: "FIELD_INVALID", kind: "invalidInput", field: "cwd" }],
    [
      "a folder that is none",
      { cwd: "/no/such" },
      { reason: "FIELD_INVALID", kind: "invalidInput", field: "cwd" },
    ],
    ["a folder outside the roots", { cwd: "/" }, { reason: "CWD_FORBIDDEN", kind: "permissionDenied" }],
    [
      "a long title",
      { title: "é".repeat(201) },
      { reason: "FIELD_INVALID", kind: "invalidInput", field: "title" },
    ],
    [
      "a title of two lines",
      { title: "a\nb" },
      { reason: "FIELD_INVALID", kind: "invalidInput", field: "title" },
    ],
    ["an unknown mode", { mode: "yolo" }, { reason: "MODE_INVALID", kind: "invalidInput" }],
    ["an unknown profile", { modelProfile: "nope" }, { reason: "PROFILE_NOT_FOUND", kind: "invalidInput" }],
    [
      "a profile without a key",
      { modelProfile: "other" },
      { reason: "PROFILE_UNUSABLE", kind: "failedPrecondition" },
    ],
    [
      "a key that is none",
      { idempotencyKey: "é" },
      { reason: "IDEMPOTENCY_KEY_INVALID", kind: "invalidInput" },
    ],
  ] as const)("is refused for %s, and nothing is made", async (_what, input, refused) => {
    await using fixture = await RuntimeFixture.create();
    fixture.models.unusable.add("other");
    const { sessions } = fixture.runtime;
    expect(await refusal(sessions.create(input))).toEqual({ field: undefined, ...refused });
    expect(await sessions.list({})).toMatchObject({ sessions: [], totalSize: 0 });
  });

  it("is refused when the id is taken, by an archived one too", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    await sessions.archive("s");
    expect(await refusal(sessions.create({ sessionId: "s" }))).toMatchObject({
      reason: "SESSION_EXISTS",
      kind: "alreadyExists",
    });
    expect(await sessions.get("s")).toMatchObject({ state: "archived" });
  });

  it("is gone again when it cannot be loaded", async () => {
    await using fixture = await RuntimeFixture.create();
    await fixture.runtime.close();
    const broken = {
      ...fixture.eventLogs,
      head: () => Promise.resolve(undefined),
      delete: () => Promise.resolve(),
    };
    const runtime = fixture.start({
      eventLogs: {
        ...broken,
        open: () => Promise.reject(new Error("disk full")),
        close: () => Promise.resolve(),
      },
    });
    await expect(runtime.sessions.create({ sessionId: "s", idempotencyKey: "k" })).rejects.toThrow(
      "disk full",
    );
    expect(await refusal(runtime.sessions.get("s"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
    await runtime.close();
    fixture.runtime = fixture.start();
    const again = await fixture.runtime.sessions.create({ sessionId: "s", idempotencyKey: "k" });
    expect(again.isReplay).toBe(false);
  });
});

describe("an idempotency key", () => {
  it("gives a repeated call the first answer, whatever became of the session", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const { sessions } = fixture.runtime;
    const request = { title: "T", idempotencyKey: "k" };
    const first = await sessions.create(request);
    const { sessionId } = first.session;
    await sessions.rename(sessionId, "renamed");
    expect(await sessions.create(request)).toEqual({ session: first.session, isReplay: true });
    expect((await sessions.list({})).totalSize).toBe(1);
    expect(await refusal(sessions.create({ ...request, title: "U" }))).toMatchObject({
      reason: "IDEMPOTENCY_MISMATCH",
    });
  });

  it("joins calls at the same time, and survives a crash", async () => {
    await using fixture = await RuntimeFixture.create({ isDurable: true });
    const request = { idempotencyKey: "k" };
    const { sessions } = fixture.runtime;
    const [a, b] = await Promise.all([sessions.create(request), sessions.create(request)]);
    expect(b).toEqual({ session: a.session, isReplay: true });
    await using crashed = await fixture.afterCrash();
    expect(await crashed.runtime.sessions.create(request)).toEqual({ session: a.session, isReplay: true });
  });

  it("is forgotten after a day and with its session", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    const first = await sessions.create({ idempotencyKey: "old" });
    await fixture.clock.advance(24 * 3_600_000 + 1);
    const second = await sessions.create({ idempotencyKey: "old" });
    expect(second.isReplay).toBe(false);
    expect(second.session.sessionId).not.toBe(first.session.sessionId);
    await sessions.archive(second.session.sessionId);
    await sessions.delete(second.session.sessionId);
    expect((await sessions.create({ idempotencyKey: "old" })).isReplay).toBe(false);
  });
});
