import { describe, expect, it } from "vitest";
import { createSessionHarness, settle, texts } from "./testing/session-harness.ts";

describe("the first observation", () => {
  it("gets everything when the program completes", async () => {
    const { start } = createSessionHarness();
    const { execution, cell } = start();
    cell.text("a");
    cell.text("b");
    cell.complete("Error: x");
    const outcome = await execution.outcome;
    expect(outcome).toMatchObject({
      cellId: "1",
      result: { type: "completed", errorText: "Error: x" },
      bufferedForMs: 0,
    });
    expect(texts(outcome)).toEqual(["a", "b"]);
  });

  it("never merges what comes before and after yield_control()", async () => {
    const { start, session } = createSessionHarness();
    const { execution, cell } = start();
    cell.text("a");
    cell.listener.yieldRequested();
    cell.text("b");
    cell.complete();
    const first = await execution.outcome;
    const { outcome: second } = await session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 5000 });
    expect([first?.result.type, texts(first)]).toEqual(["yielded", ["a"]]);
    expect([second.result.type, texts(second)]).toEqual(["completed", ["b"]]);
  });

  it.each([
    { requestedMs: undefined, limitMs: undefined, waitsMs: 11_000 },
    { requestedMs: 9999, limitMs: undefined, waitsMs: 9999 },
    { requestedMs: 10_000, limitMs: undefined, waitsMs: 11_000 },
    { requestedMs: 60_000, limitMs: 50, waitsMs: 50 },
    { requestedMs: 60_000, limitMs: 0, waitsMs: 0 },
    { requestedMs: 20, limitMs: 50, waitsMs: 20 },
  ])("waits $waitsMs ms when asked for $requestedMs under a limit of $limitMs", async (row) => {
    const { start, clock } = createSessionHarness({ maxYieldTimeMs: row.limitMs });
    const { execution } = start({ yieldTimeMs: row.requestedMs });
    let yieldedAtMs = -1;
    const startedMs = clock.monotonic();
    void execution.outcome.then(() => {
      yieldedAtMs = clock.monotonic() - startedMs;
    });
    await clock.advance(row.waitsMs - 1);
    expect(yieldedAtMs).toBe(row.waitsMs === 0 ? 0 : -1);
    await clock.advance(2);
    expect(yieldedAtMs).toBe(row.waitsMs);
  });

  it("counts its time from the moment the program can run", async () => {
    const { session, engine, clock } = createSessionHarness();
    const execution = session.execute({
      executionId: "e1",
      callId: "c",
      source: "",
      tools: [],
      yieldTimeMs: 100,
    });
    await clock.advance(500);
    expect(clock.pendingTimers).toBe(0);
    engine.last.listener.ready();
    await clock.advance(100);
    expect((await execution.outcome)?.result.type).toBe("yielded");
  });

  it("a deadline that has passed wins over output that came after it", async () => {
    const { start, clock, session } = createSessionHarness();
    const { execution, cell } = start({ yieldTimeMs: 100 });
    cell.text("before");
    // The clock jumps without firing timers, as when the event loop was busy.
    const late = clock.advance(0);
    Object.defineProperty(clock, "monotonic", { value: () => clock.now() + 150 });
    cell.text("after");
    cell.complete();
    await late;
    expect(texts(await execution.outcome)).toEqual(["before"]);
    const { outcome } = await session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 0 });
    expect([outcome.result.type, texts(outcome)]).toEqual(["completed", ["after"]]);
  });

  it("leaves no timer behind", async () => {
    const { start, clock } = createSessionHarness();
    const { execution, cell } = start();
    cell.complete();
    await execution.outcome;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("Wait", () => {
  it("takes a buffered result, then the cell is missing", async () => {
    const { startUnobserved, session, events, clock } = createSessionHarness();
    const { cell } = await startUnobserved();
    cell.text("done");
    cell.complete();
    await clock.advance(40);
    expect(events).toEqual([]);
    const first = await session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 0 });
    const second = await session.wait({ cellId: "1", waitId: "w2", yieldTimeMs: 0 });
    expect(first).toMatchObject({ state: "live", outcome: { bufferedForMs: 40 } });
    expect(second).toMatchObject({
      state: "missing",
      outcome: { items: [], result: { type: "completed", errorText: "exec cell 1 not found" } },
    });
    await settle();
    expect(events).toEqual([
      { type: "cell-closed", executionId: "e1", cellId: "1", finalToolCallSequence: 0 },
    ]);
  });

  it("is refused while another observer is active, which is not disturbed", async () => {
    const { start, session } = createSessionHarness();
    const { execution, cell } = start();
    await expect(session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 0 })).rejects.toMatchObject({
      kind: "failedPrecondition",
      message: "exec cell 1 already has an active observer",
    });
    cell.text("a");
    cell.complete();
    expect(texts(await execution.outcome)).toEqual(["a"]);
  });

  it("spends its id whatever becomes of it", async () => {
    const { session } = createSessionHarness();
    await session.wait({ cellId: "9", waitId: "w1", yieldTimeMs: 0 });
    await expect(session.wait({ cellId: "9", waitId: "w1", yieldTimeMs: 0 })).rejects.toMatchObject({
      kind: "alreadyExists",
    });
  });

  it("forgets ids beyond the number it remembers", async () => {
    const { session } = createSessionHarness({ limits: { rememberedIds: 2 } });
    for (const waitId of ["w1", "w2", "w3", "w1"]) {
      await session.wait({ cellId: "9", waitId, yieldTimeMs: 0 });
    }
    await expect(session.wait({ cellId: "9", waitId: "w3", yieldTimeMs: 0 })).rejects.toMatchObject({
      kind: "alreadyExists",
    });
  });
});

describe("CancelWait", () => {
  it("frees the cell at once and keeps the output for the next observation", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell } = await startUnobserved();
    const wait = session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 5000 });
    cell.text("kept");
    session.cancelWait("w1");
    const next = session.wait({ cellId: "1", waitId: "w2", yieldTimeMs: 5000 });
    await expect(wait).rejects.toMatchObject({ kind: "cancelled" });
    cell.complete();
    expect(texts((await next).outcome)).toEqual(["kept"]);
  });

  it("that comes first cancels the Wait, and its id is spent", async () => {
    const { startUnobserved, session } = createSessionHarness();
    await startUnobserved();
    session.cancelWait("w1");
    const wait = () => session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 0 });
    await expect(wait()).rejects.toMatchObject({ kind: "cancelled" });
    await expect(wait()).rejects.toMatchObject({ kind: "alreadyExists" });
  });

  it("that comes after the answer changes nothing", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell } = await startUnobserved();
    const wait = session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 5000 });
    cell.text("a");
    cell.complete();
    session.cancelWait("w1");
    expect(texts((await wait).outcome)).toEqual(["a"]);
  });
});

describe("YieldObservation", () => {
  it("ends the first observation and the cell goes on", async () => {
    const { start, session } = createSessionHarness();
    const { execution, cell } = start();
    cell.text("a");
    session.yieldObservation({ type: "execution", executionId: "e1" });
    cell.text("b");
    expect(texts(await execution.outcome)).toEqual(["a"]);
    const wait = session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 5000 });
    session.yieldObservation({ type: "wait", waitId: "w1" });
    expect((await wait).outcome).toMatchObject({ result: { type: "yielded" } });
  });

  it("that comes first makes the Execute or the Wait yield at once, one time", async () => {
    const { start, session } = createSessionHarness();
    session.yieldObservation({ type: "execution", executionId: "early" });
    session.yieldObservation({ type: "wait", waitId: "w1" });
    const { execution } = start({ executionId: "early" });
    expect((await execution.outcome)?.result.type).toBe("yielded");
    const { outcome } = await session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 5000 });
    expect(outcome.result.type).toBe("yielded");
  });

  it("for the initial observation does not touch a later Wait", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell } = await startUnobserved();
    const wait = session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 5000 });
    session.yieldObservation({ type: "execution", executionId: "e1" });
    cell.complete();
    expect((await wait).outcome.result.type).toBe("completed");
  });
});

describe("Terminate", () => {
  it("gives its caller and the active observer the same items", async () => {
    const { start, session, events } = createSessionHarness();
    const { execution, cell } = start();
    cell.text("a");
    const { state, outcome } = await session.terminate("1", {});
    const observed = await execution.outcome;
    expect(state).toBe("live");
    for (const one of [outcome, observed]) {
      expect(one?.result).toEqual({ type: "terminated" });
      expect(texts(one)).toEqual(["a"]);
    }
    await settle();
    expect(events).toHaveLength(1);
  });

  it("takes a buffered result", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell } = await startUnobserved();
    cell.text("done");
    cell.complete();
    const { state, outcome } = await session.terminate("1", {});
    expect([state, outcome.result.type, texts(outcome)]).toEqual(["live", "completed", ["done"]]);
    expect((await session.terminate("1", {})).state).toBe("missing");
  });

  it("is refused while another one is in progress; a Wait meanwhile finds no cell", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell } = await startUnobserved();
    cell.holdsEnd = true;
    const first = session.terminate("1", {});
    await expect(session.terminate("1", {})).rejects.toMatchObject({ kind: "failedPrecondition" });
    expect((await session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 0 })).state).toBe("missing");
    cell.end({ type: "terminated" });
    expect((await first).outcome.result.type).toBe("terminated");
  });

  it("that comes after the end of the program finds a completed result", async () => {
    const { startUnobserved, session, start } = createSessionHarness();
    const { cell } = await startUnobserved();
    cell.holdsEnd = true;
    cell.listener.stored("k", "1");
    const terminated = session.terminate("1", {});
    cell.text("last");
    cell.complete();
    const { outcome } = await terminated;
    expect([outcome.result.type, texts(outcome)]).toEqual(["completed", ["last"]]);
    expect(start().cell.program.stored.get("k")).toBe("1");
  });

  it("counts a worker that is lost meanwhile as terminated", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell } = await startUnobserved();
    cell.holdsEnd = true;
    const terminated = session.terminate("1", {});
    cell.end({ type: "lost", errorText: "exec worker lost" });
    expect((await terminated).outcome.result).toEqual({ type: "terminated" });
  });
});

describe("stored values", () => {
  it("are a snapshot at admission and are committed at the end, seen or not", async () => {
    const { startUnobserved } = createSessionHarness();
    const { cell: a } = await startUnobserved();
    a.listener.stored("k", "1");
    const { cell: b } = await startUnobserved();
    expect(b.program.stored.get("k")).toBeUndefined();
    a.complete("Error: still commits");
    expect(b.program.stored.get("k")).toBeUndefined();
    const { cell: c } = await startUnobserved();
    expect(c.program.stored.get("k")).toBe("1");
    c.listener.stored("other", "2");
    b.listener.stored("k", "3");
    c.complete();
    b.complete();
    expect([...(await startUnobserved()).cell.program.stored]).toEqual([
      ["k", "3"],
      ["other", "2"],
    ]);
  });

  it.each([
    { type: "terminated" } as const,
    { type: "lost", errorText: "exec runtime out of memory" } as const,
  ])("are not committed by a cell that was $type", async (end) => {
    const { startUnobserved } = createSessionHarness();
    const { cell } = await startUnobserved();
    cell.listener.stored("k", "1");
    cell.end(end);
    expect((await startUnobserved()).cell.program.stored.size).toBe(0);
  });
});

describe("the bytes of stored values", () => {
  const large = `"${"x".repeat(40 * 1024 * 1024)}"`;
  const full = expect.stringMatching(/stored values .* at most 67108864 bytes/);

  it("are bounded for programs side by side: the one that goes beyond fails and keeps nothing", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell: a } = await startUnobserved();
    const { cell: b } = await startUnobserved();
    a.listener.stored("a", large);
    b.listener.stored("small", "1");
    b.listener.stored("b", large);
    b.listener.stored("after", "1");
    b.complete();
    a.complete();
    const { outcome } = await session.wait({ cellId: "2", waitId: "w", yieldTimeMs: 0 });
    expect(outcome.result).toEqual({ type: "completed", errorText: full });
    const { cell: c } = await startUnobserved();
    expect([...c.program.stored.keys()]).toEqual(["a"]);
  });

  it("are bounded by what a commit makes of them", async () => {
    const { startUnobserved, session } = createSessionHarness();
    const { cell: a } = await startUnobserved();
    const { cell: b } = await startUnobserved();
    a.listener.stored("a", large);
    a.complete();
    b.listener.stored("b", large);
    b.complete();
    const { outcome } = await session.wait({ cellId: "2", waitId: "w", yieldTimeMs: 0 });
    expect(outcome.result).toEqual({ type: "completed", errorText: full });
    const { cell: c } = await startUnobserved();
    c.listener.stored("a", large);
    c.complete();
    expect([...(await startUnobserved()).cell.program.stored.keys()]).toEqual(["a"]);
  });

  it("come back when a program is lost or its session closes", async () => {
    const { startUnobserved } = createSessionHarness();
    for (let round = 0; round < 3; round++) {
      const { cell } = await startUnobserved();
      cell.listener.stored("a", large);
      cell.end({ type: "lost", errorText: "exec runtime lost" });
    }
    const { cell } = await startUnobserved();
    cell.listener.stored("a", large);
    cell.complete();
    expect((await startUnobserved()).cell.program.stored.has("a")).toBe(true);
  });
});

describe("an engine", () => {
  it("that loses a cell makes it fail with the text of the engine", async () => {
    const { start } = createSessionHarness();
    const { execution, cell } = start();
    cell.text("a");
    cell.end({ type: "lost", errorText: "exec runtime out of memory" });
    expect(await execution.outcome).toMatchObject({
      items: [{ text: "a" }],
      result: { type: "completed", errorText: "exec runtime out of memory" },
    });
  });

  it("that refuses a program spends neither its ids nor a place", async () => {
    const { start, engine, runtime } = createSessionHarness();
    engine.refusal = new Error("full");
    expect(() => start({ executionId: "e" })).toThrow("full");
    engine.refusal = undefined;
    expect(start({ executionId: "e" }).execution.cellId).toBe("1");
    expect(runtime.stats().openCells).toBe(1);
  });
});

describe("events", () => {
  it("of a cell end with its closing", async () => {
    const { start, events } = createSessionHarness();
    const { execution, cell } = start({ callId: "call-7" });
    cell.listener.notified("n1");
    cell.listener.notified("n2");
    cell.complete();
    await execution.outcome;
    await settle();
    expect(events).toMatchObject([
      { type: "notified", executionId: "e1", cellId: "1", callId: "call-7", text: "n1" },
      { type: "notified", text: "n2" },
      { type: "cell-closed", cellId: "1" },
    ]);
  });

  it("leave out a notification that fits in no message, and count it", async () => {
    const { start, events, runtime } = createSessionHarness({ limits: { maxMessageBytes: 200 } });
    start().cell.listener.notified("x".repeat(200));
    await settle();
    expect(events).toEqual([]);
    expect(runtime.stats().droppedNotifications).toBe(1);
  });

  it("that nobody reads end the session", async () => {
    const { runtime, engine } = createSessionHarness({ limits: { maxLeaseBacklogBytes: 10_000 } });
    const session = runtime.openSession({ outputMode: "unbounded", heartbeatIntervalMs: 0 });
    session.execute({ executionId: "e1", callId: "c", source: "", tools: [] });
    for (let count = 0; count < 20; count++) engine.last.listener.notified("x".repeat(1000));
    await expect(session.events.next()).rejects.toMatchObject({ kind: "resourceExhausted" });
    expect(engine.last.hasEnded).toBe(true);
  });
});

describe("shutting down", () => {
  it("ends leases and observations with unavailable and refuses new sessions", async () => {
    const { runtime, session, start, engine } = createSessionHarness();
    const second = runtime.openSession({ outputMode: "unbounded", heartbeatIntervalMs: 0 });
    const lease = expect(second.events.next()).rejects.toMatchObject({ kind: "unavailable" });
    const { execution } = start();
    const outcome = expect(execution.outcome).rejects.toMatchObject({ kind: "unavailable" });
    await runtime[Symbol.asyncDispose]();
    await Promise.all([lease, outcome]);
    expect(engine.releasedSessions.toSorted()).toEqual([session.sessionId, second.sessionId]);
    expect(() => runtime.openSession({ outputMode: "unbounded", heartbeatIntervalMs: 0 })).toThrow(
      "shutting down",
    );
    expect(runtime.stats()).toMatchObject({ sessions: 0, openCells: 0 });
  });
});
