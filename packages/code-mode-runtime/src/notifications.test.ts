import { describe, expect, it } from "vitest";
import type { SessionEvent } from "./session-types.ts";
import { createSessionHarness, settle, texts } from "./testing/session-harness.ts";

describe("the end of a program with unanswered notifications", () => {
  it("is not held back unless the session asks for it", async () => {
    const { start, events } = createSessionHarness();
    const { execution, cell } = start();
    cell.listener.notified("n");
    cell.complete();
    expect((await execution.outcome)?.result.type).toBe("completed");
    await settle();
    expect(events.map(({ type }) => type)).toEqual(["notified", "cell-closed"]);
  });

  it("waits for the last answer, and for no repeated or unknown one", async () => {
    const { start, session, events } = createSessionHarness({ notificationAnswerMs: 100 });
    const { execution, cell } = start();
    cell.listener.notified("a");
    cell.listener.notified("b");
    cell.complete();
    await settle();
    const [first = "", second = ""] = events.map((event) =>
      event.type === "notified" ? event.notificationId : "",
    );
    for (const notificationId of [first, first, "unknown"]) session.answerNotification(notificationId);
    await settle();
    expect(events).toHaveLength(2);
    session.answerNotification(second);
    expect((await execution.outcome)?.result.type).toBe("completed");
    await settle();
    expect(events.map(({ type }) => type)).toEqual(["notified", "notified", "cell-closed"]);
  });

  it("comes without them when their time is over", async () => {
    const { start, clock, events } = createSessionHarness({ notificationAnswerMs: 100 });
    const { execution, cell } = start();
    cell.listener.notified("n");
    cell.complete("Error: x");
    await clock.advance(101);
    expect((await execution.outcome)?.result).toEqual({ type: "completed", errorText: "Error: x" });
    expect(events.map(({ type }) => type)).toEqual(["notified", "notification-cancelled", "cell-closed"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("gives way to a termination, which keeps what the program stored and said", async () => {
    const { start, session, engine } = createSessionHarness({ notificationAnswerMs: 100 });
    const { execution, cell } = start();
    cell.listener.stored("k", "1");
    cell.listener.notified("n");
    cell.text("said");
    cell.complete();
    const { outcome } = await session.terminate("1", {});
    expect([outcome.result.type, texts(outcome)]).toEqual(["terminated", ["said"]]);
    expect((await execution.outcome)?.result.type).toBe("terminated");
    start();
    expect(engine.last.program.stored.get("k")).toBe("1");
  });

  it("leaves no timer when the session is closed", async () => {
    const { start, session, clock } = createSessionHarness({ notificationAnswerMs: 100 });
    const { cell } = start({ yieldTimeMs: 0 });
    cell.listener.notified("n");
    cell.complete();
    await session.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a listener of session events", () => {
  it("is told within the push, and once of the end", async () => {
    const { runtime, engine } = createSessionHarness();
    const session = runtime.openSession({ outputMode: "unbounded", heartbeatIntervalMs: 0 });
    const events: (SessionEvent["type"] | "end")[] = [];
    session.events.listen(
      ({ type }) => events.push(type),
      () => events.push("end"),
    );
    session.execute({ executionId: "e", callId: "c", source: "", tools: [] });
    engine.last.listener.ready();
    engine.last.listener.notified("n");
    expect(events).toEqual(["notified"]);
    await session.close();
    expect(events).toEqual(["notified", "end"]);
    session.events.listen(
      () => {},
      () => events.push("end"),
    );
    expect(events).toEqual(["notified", "end", "end"]);
  });
});
