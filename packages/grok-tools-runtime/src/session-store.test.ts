import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ResourceDefinition } from "./session-resource.ts";
import { count, echo, waitingTool } from "./testing/sample-tools.ts";
import { testRuntime } from "./testing/test-runtime.ts";
import { defineTool } from "./tool.ts";

const HOUR_MS = 3_600_000;
const tools = [echo, count];
const config = { tools: tools.map(({ id }) => ({ id })) };

describe("SessionStore", () => {
  it("keeps sessions apart by id", async () => {
    await using test = await testRuntime(tools);
    const { sessions } = test.runtime;
    await sessions.session("a").finalize(config);
    expect(sessions.session("a").status).toBe("finalized");
    expect(sessions.session("b").status).toBe("open");
    expect(sessions.session(undefined).status).toBe("open");
  });

  it.each(["", "x".repeat(129)])("refuses the id %j", async (key) => {
    await using test = await testRuntime(tools);
    expect(() => test.runtime.sessions.session(key)).toThrow(
      expect.objectContaining({ kind: "invalidInput" }),
    );
  });

  it("expires an idle session, says so for ten minutes, and opens it anew with its state", async () => {
    await using test = await testRuntime(tools);
    const { sessions } = test.runtime;
    await sessions.session("a").finalize(config);
    await sessions.session("a").execute("count", {});
    await test.clock.advance(HOUR_MS - 1);
    sessions.session("a");
    await test.clock.advance(HOUR_MS - 1);
    expect(sessions.session("a").status).toBe("finalized");
    await test.clock.advance(HOUR_MS);
    expect(() => sessions.session("a")).toThrow(
      expect.objectContaining({ kind: "unavailable", message: expect.stringContaining("expired") }),
    );
    const again = sessions.session("a", "finalize");
    await again.finalize(config);
    expect(await again.execute("count", {})).toMatchObject({ result: { promptText: "2" } });
  });

  it("waits, when it closes, for a session that expired and is still closing", async () => {
    const release = Promise.withResolvers<void>();
    const slow: ResourceDefinition<object> = {
      name: "slow",
      create: () => ({}),
      dispose: () => release.promise,
    };
    const useSlow = defineTool({
      id: "Sample:use_slow",
      kind: "read",
      capabilities: { readOnly: true },
      description: "Uses a resource that takes its time to end.",
      input: z.object({}),
      output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
      resources: [slow],
      run: (_input, context) => {
        context.resource(slow);
        return Promise.resolve({ output: { type: "Text", text: "" }, promptText: "" });
      },
    });
    await using test = await testRuntime([useSlow]);
    const session = test.runtime.sessions.session("a");
    await session.finalize({ tools: [{ id: useSlow.id }] });
    await session.execute("use_slow", {});
    await test.clock.advance(HOUR_MS);
    expect(session.status).toBe("closed");
    let isDone = false;
    const done = test.runtime[Symbol.asyncDispose]().then(() => {
      isDone = true;
    });
    await new Promise(setImmediate);
    expect(isDone).toBe(false);
    release.resolve();
    await done;
  });

  it("counts the idle time from the end of the last call", async () => {
    const started = Promise.withResolvers<void>();
    const wait = waitingTool({ started: () => started.resolve(), ended: () => {} });
    await using test = await testRuntime([wait]);
    const session = test.runtime.sessions.session("a");
    await session.finalize({ tools: [{ id: wait.id }] });
    const call = session.execute("wait", {}, { timeoutMs: HOUR_MS - 60_000 });
    await started.promise;
    await test.clock.advance(HOUR_MS - 59_000);
    await call;
    await test.clock.advance(HOUR_MS - 1);
    expect(session.status).toBe("finalized");
    await test.clock.advance(1);
    expect(session.status).toBe("closed");
  });

  it("forgets after ten minutes that an id has expired", async () => {
    await using test = await testRuntime(tools);
    test.runtime.sessions.session("a");
    await test.clock.advance(HOUR_MS + 600_000);
    expect(test.runtime.sessions.session("a").status).toBe("open");
  });

  it("expires neither the default session, nor an owned one, nor one with a running call", async () => {
    const started = Promise.withResolvers<void>();
    const wait = waitingTool({ started: () => started.resolve(), ended: () => {} });
    await using test = await testRuntime([wait]);
    const { sessions } = test.runtime;
    const owned = await test.runtime.openSession({ id: "owned", tools: [] });
    const busy = sessions.session("busy");
    await busy.finalize({ tools: [{ id: wait.id }] });
    const call = busy.execute("wait", {});
    await started.promise;
    const byDefault = sessions.session(undefined);
    await test.clock.advance(3 * HOUR_MS);
    expect([owned.status, busy.status, byDefault.status]).toEqual(["finalized", "finalized", "open"]);
    await busy.close();
    await call;
  });

  it("lets an owned id be opened again once its session is closed", async () => {
    await using test = await testRuntime(tools);
    const first = await test.runtime.openSession({ id: "a", tools: [] });
    await expect(test.runtime.openSession({ id: "a", tools: [] })).rejects.toMatchObject({
      kind: "alreadyExists",
    });
    await first.close();
    await test.runtime.openSession({ id: "a", tools: [] });
  });

  it("does not let two sessions share a folder", async () => {
    await using test = await testRuntime(tools);
    const { sessions } = test.runtime;
    await sessions.session("a").finalize(config);
    const byDefault = sessions.session(undefined).finalize({ ...config, sessionId: "a" });
    await expect(byDefault).rejects.toMatchObject({ kind: "failedPrecondition" });
    await sessions.session(undefined).finalize(config);
  });

  it("answers unavailable once the runtime is disposed, and leaves no timer", async () => {
    await using test = await testRuntime(tools);
    const { sessions } = test.runtime;
    const session = sessions.session("a");
    await session.finalize(config);
    await session.execute("count", {});
    await test.runtime[Symbol.asyncDispose]();
    expect(() => sessions.session("a")).toThrow(expect.objectContaining({ kind: "unavailable" }));
    expect(() => session.listTools()).toThrow(expect.objectContaining({ kind: "unavailable" }));
    expect(test.clock.pendingTimers).toBe(0);
  });
});
