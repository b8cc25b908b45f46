import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "./diagnostic.ts";
import { DiagnosticsInbox } from "./diagnostics-inbox.ts";

const push = { server: "s", kind: "push" } as const;
const pull = { server: "s", kind: "pull" } as const;
const error = (line: number): Diagnostic => ({ severity: "error", line, message: "no" });

function settling(inbox: DiagnosticsInbox): { isOver: boolean } {
  const state = { isOver: false };
  void inbox.settled().then(() => {
    state.isOver = true;
  });
  return state;
}

describe("DiagnosticsInbox", () => {
  it("tells each list once, and again when it has changed", () => {
    const inbox = new DiagnosticsInbox(new ManualClock());
    inbox.put(push, "/a", [error(1)]);
    expect(inbox.take()).toEqual([{ path: "/a", diagnostics: [error(1)] }]);
    inbox.put(push, "/a", [error(1)]);
    expect(inbox.take()).toEqual([]);
    inbox.put(push, "/a", []);
    expect(inbox.take()).toEqual([]);
    inbox.put(push, "/a", [error(1)]);
    expect(inbox.take()).toHaveLength(1);
  });

  it("does not tell what was repaired before anybody heard of it", () => {
    const inbox = new DiagnosticsInbox(new ManualClock());
    inbox.put(push, "/a", [error(1)]);
    inbox.put(push, "/a", []);
    expect(inbox.take()).toEqual([]);
  });

  it("tells what comes both ways once", () => {
    const inbox = new DiagnosticsInbox(new ManualClock());
    inbox.put(push, "/a", [error(2), error(1)]);
    inbox.put(pull, "/a", [error(1)]);
    expect(inbox.take()).toEqual([{ path: "/a", diagnostics: [error(1), error(2)] }]);
  });

  it("forgets what an ended server has found", () => {
    const inbox = new DiagnosticsInbox(new ManualClock());
    inbox.put(push, "/a", [error(1)]);
    inbox.put({ server: "other", kind: "push" }, "/a", [error(3)]);
    inbox.forget("s");
    expect(inbox.take()).toEqual([{ path: "/a", diagnostics: [error(3)] }]);
  });

  it("waits for nothing when nothing is expected", async () => {
    await new DiagnosticsInbox(new ManualClock()).settled();
  });

  it("waits until everything was heard and for a pause after it", async () => {
    const clock = new ManualClock();
    const inbox = new DiagnosticsInbox(clock);
    inbox.expect("s", "/a");
    inbox.expect("s", "/b");
    const wait = settling(inbox);
    inbox.put(push, "/a", []);
    await clock.advance(200);
    expect(wait.isOver).toBe(false);
    inbox.put(push, "/b", []);
    await clock.advance(60);
    inbox.put(push, "/b", [error(1)]);
    await clock.advance(60);
    expect(wait.isOver).toBe(false);
    await clock.advance(60);
    expect(wait.isOver).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it("waits half a second at most, and not again for the same edit", async () => {
    const clock = new ManualClock();
    const inbox = new DiagnosticsInbox(clock);
    inbox.expect("s", "/a");
    const wait = settling(inbox);
    await clock.advance(499);
    expect(wait.isOver).toBe(false);
    await clock.advance(1);
    expect(wait.isOver).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    await inbox.settled();
  });

  it.each([
    ["a server has ended", (inbox: DiagnosticsInbox) => inbox.forget("s")],
    ["a server has nothing to say", (inbox: DiagnosticsInbox) => inbox.expectNoMore("s", "/a")],
  ])("does not wait when %s", async (_what, happen) => {
    const clock = new ManualClock();
    const inbox = new DiagnosticsInbox(clock);
    inbox.expect("s", "/a");
    const wait = settling(inbox);
    happen(inbox);
    await clock.advance(100);
    expect(wait.isOver).toBe(true);
  });

  it("ends a wait when it is disposed", async () => {
    const clock = new ManualClock();
    const inbox = new DiagnosticsInbox(clock);
    inbox.expect("s", "/a");
    const waiting = inbox.settled();
    inbox[Symbol.dispose]();
    await waiting;
    expect(clock.pendingTimers).toBe(0);
  });
});
