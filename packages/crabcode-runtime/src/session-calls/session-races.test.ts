import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

/** A session `s` with one turn, in the archive. */
async function archived(script = [{ text: "a" }]): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({ script, isDurable: true });
  await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
  await fixture.runtime.sessions.archive("s");
  return fixture;
}

/** Lets that many microtasks pass. */
async function ticks(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await Promise.resolve();
}

describe("a session that is loaded while it is being", () => {
  it.each([0, 1, 2, 3, 4, 5, 6])("deleted is either there or gone (%i ticks apart)", async (apart) => {
    await using fixture = await archived();
    const { sessions } = fixture.runtime;
    const deleting = sessions.delete("s").then(
      () => "deleted",
      () => "refused",
    );
    await ticks(apart);
    const resuming = sessions.resume("s").then(
      () => "resumed",
      () => "refused",
    );
    const outcome = [await deleting, await resuming];
    expect([
      ["deleted", "refused"],
      ["refused", "resumed"],
    ]).toContainEqual(outcome);
    const isGone = outcome[0] === "deleted";
    expect((await sessions.list({ states: ["idle", "archived", "stored"] })).totalSize).toBe(isGone ? 0 : 1);
    expect(existsSync(join(fixture.dataDir, "crabcode", "transcripts", "s.jsonl"))).toBe(!isGone);
    if (!isGone) return;
    expect(await refusal(fixture.runtime.listModels("s"))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
    const { session } = await sessions.create({ sessionId: "s" });
    expect(session).toMatchObject({ messageCount: 0, headSeq: 0, title: "" });
  });

  it.each([0, 1, 2, 3, 4, 5, 6])("resumed may be deleted in vain (%i ticks apart)", async (apart) => {
    await using fixture = await archived();
    const { sessions } = fixture.runtime;
    const resuming = sessions.resume("s");
    await ticks(apart);
    expect(await refusal(sessions.delete("s"))).toMatchObject({ reason: "NOT_ARCHIVED" });
    expect((await resuming).session).toMatchObject({ state: "idle", messageCount: 2 });
  });

  it.each([0, 1, 2, 3, 4, 5, 6])("archived ends as one of the two (%i ticks apart)", async (apart) => {
    await using fixture = await archived();
    const { sessions } = fixture.runtime;
    await sessions.unarchive("s");
    const archiving = sessions.archive("s");
    await ticks(apart);
    const resuming = sessions.resume("s");
    expect((await archiving).state).toBe("archived");
    await resuming;
    const { state } = await sessions.get("s");
    expect(["idle", "archived"]).toContain(state);
    await sessions.close("s");
    expect((await sessions.get("s")).state).toBe(state === "idle" ? "stored" : "archived");
  });
});

describe("a session that could not be closed properly", () => {
  it("is there for whoever waited for that", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [{ id: "c", name: "Read", input: { file_path: "f" } }] }, { text: "b" }],
    });
    await (await fixture.send("x", { session: { sessionId: "s", create: true } })).all();
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    fixture.toolbox.onDispose = () => {
      fixture.toolbox.onDispose = () => Promise.resolve();
      reached.resolve();
      return release.promise;
    };
    const closing = fixture.runtime.sessions.close("s").catch((thrown: unknown) => String(thrown));
    await reached.promise;
    const resuming = fixture.runtime.sessions.resume("s");
    release.reject(new Error("stuck"));
    expect((await resuming).session).toMatchObject({ state: "idle", messageCount: 4 });
    expect(await closing).toMatch(/stuck/);
  });
});
