import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

const create = (sessionId: string, cwd?: string) => ({
  session: { sessionId, create: true, ...(cwd !== undefined && { cwd }) },
});

describe("selecting a session", () => {
  it("makes the default session once, whoever asks first", async () => {
    await using fixture = await RuntimeFixture.create();
    const ids = await Promise.all(Array.from({ length: 5 }, () => fixture.runtime.listModels("")));
    expect(new Set(ids.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(ids[0]?.sessionId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("makes a session by id once, also when two calls race", async () => {
    await using fixture = await RuntimeFixture.create();
    const streams = await Promise.all([
      fixture.runtime.subscribe(create("mine")),
      fixture.runtime.subscribe(create("mine")),
    ]);
    expect(streams.map(({ sessionId }) => sessionId)).toEqual(["mine", "mine"]);
    for (const { events } of streams) await events[Symbol.asyncIterator]().return?.();
  });

  it("makes one in a folder inside the workspace, links resolved", async () => {
    await using fixture = await RuntimeFixture.create();
    const inner = join(fixture.cwd, "inner");
    await mkdir(inner);
    await symlink(inner, join(fixture.cwd, "link"));
    await fixture.runtime.subscribe(create("s1", join(fixture.cwd, "link")));
    await fixture.runtime.subscribe(create("s1", inner));
    await expect(fixture.runtime.subscribe(create("s1", fixture.cwd))).rejects.toMatchObject({
      reason: "CWD_MISMATCH",
      kind: "failedPrecondition",
    });
  });

  it.each([
    ["../etc", undefined, "SESSION_ID_INVALID", "invalidInput"],
    ["s9", "/", "CWD_FORBIDDEN", "permissionDenied"],
    ["s9", "relative", "FIELD_INVALID", "invalidInput"],
    ["s9", "/nonexistent", "FIELD_INVALID", "invalidInput"],
  ])("refuses to make '%s' in %s", async (...[sessionId, cwd, reason, kind]) => {
    await using fixture = await RuntimeFixture.create();
    await expect(fixture.runtime.subscribe(create(sessionId, cwd))).rejects.toMatchObject({ reason, kind });
    await expect(fixture.runtime.listModels(sessionId)).rejects.toMatchObject({
      reason: "SESSION_NOT_FOUND",
    });
  });

  it("refuses a link that leads out of the workspace", async () => {
    await using fixture = await RuntimeFixture.create();
    const link = join(fixture.cwd, "out");
    await symlink(dirname(fixture.cwd), link);
    await expect(fixture.runtime.subscribe(create("s1", link))).rejects.toMatchObject({
      reason: "CWD_FORBIDDEN",
    });
  });

  it("loads a closed session again, with a fresh mode and the same history", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "one" }, { text: "two" }] });
    await (await fixture.send("x")).ended;
    await fixture.runtime.switchMode("", "plan");
    await fixture.runtime.closeSession("");
    const events = await (await fixture.send("y")).all();
    expect(events[0]?.seq).toBe(6);
    expect(fixture.models.requests[1]?.messages).toHaveLength(4);
    expect(fixture.models.requests[1]?.tools.map(({ name }) => name)).toContain("Bash");
  });

  it("disposes the toolbox of a session with the session", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [{ id: "c1", name: "Glob", input: { pattern: "*" } }] }, { text: "ok" }],
    });
    await (await fixture.send("x")).ended;
    expect(fixture.toolbox.isDisposed).toBe(false);
    await fixture.runtime.closeSession("");
    expect(fixture.toolbox.isDisposed).toBe(true);
  });
});
