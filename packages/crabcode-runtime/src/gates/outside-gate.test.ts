import { MemoryEventLogStore, silentLogger } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { SessionEventBus } from "../events/session-event-bus.ts";
import type { SessionGate } from "../sessions/session-gate.ts";
import { outline, Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";
import { type OutsideCall, OutsideGate } from "./outside-gate.ts";
import { PermissionPolicy } from "./permission-policy.ts";
import { QuestionRegistry, questionKey } from "./question-registry.ts";

const defaultPermissions = {
  mode: "default",
  allow: [],
  deny: [],
  ask: [],
  additionalDirectories: [],
  requestTimeoutMs: 0,
} as const;

interface Harness {
  readonly fixture: RuntimeFixture;
  readonly sessionId: string;
  readonly gate: SessionGate;
  readonly bus: Reader;
}

/** A session with a subscriber, and a gate to it. */
async function open(permissions: Readonly<Record<string, unknown>> = {}): Promise<Harness & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const fixture = stack.use(await RuntimeFixture.create({ settings: { permissions } }));
  const { sessionId } = await fixture.runtime.listModels("");
  const gate = await fixture.runtime.openGate(sessionId);
  const bus = await fixture.watch({ sessionId });
  const owned = stack.move();
  return { fixture, sessionId, gate, bus, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const call = (toolUseId: string, more: Partial<OutsideCall> = {}): OutsideCall => ({
  toolUseId,
  tool: "run_terminal_cmd",
  input: { command: "git push origin" },
  isReadOnly: false,
  runsCommands: true,
  targetPaths: [],
  wish: "ask",
  signal: new AbortController().signal,
  ...more,
});

const choice = {
  toolUseId: "s/c1/1",
  question: "Which?",
  options: ["a", "b"],
  multiple: false,
  signal: new AbortController().signal,
};

describe("a call from outside", () => {
  it.each([
    [{ isAllowed: true }, undefined],
    [{ isAllowed: false }, "refused by the user"],
    [{ isAllowed: false, feedback: "not today" }, "refused by the user, who said: not today"],
  ])("is asked about like one of the session, and %j is its answer", async (answer, verdict) => {
    await using test = await open();
    const { fixture, sessionId, gate, bus } = test;
    const permitted = gate.permit(call("s/1/tool-1"));
    expect(await bus.find({ type: "permission_request" })).toMatchObject({
      tool_name: "run_terminal_cmd",
      tool_input: { command: "git push origin" },
      tool_use_id: "s/1/tool-1",
      permission_key: "run_terminal_cmd(git push)",
      agent_id: null,
      expires_at: expect.stringMatching(/T/),
    });
    await fixture.runtime.respondPermission({ sessionId, toolUseId: "s/1/tool-1", ...answer });
    expect(await permitted).toBe(verdict);
    expect(await bus.find({ type: "permission_response" })).toMatchObject({ resolution: "answered" });
  });

  it("waits for the question before it, and needs none of its own when that was answered with always", async () => {
    await using test = await open();
    const { fixture, sessionId, gate, bus } = test;
    const both = [
      gate.permit(call("c1")),
      gate.permit(call("c2", { input: { command: "git push --tags" } })),
    ];
    await bus.find({ type: "permission_request", tool_use_id: "c1" });
    await fixture.runtime.respondPermission({
      sessionId,
      toolUseId: "c1",
      isAllowed: true,
      alwaysAllow: true,
    });
    expect(await Promise.all(both)).toEqual([undefined, undefined]);
    await fixture.runtime.switchMode(sessionId, "plan");
    await bus.find({ type: "mode_change" });
    expect(outline(bus.events)).not.toContain("permission_request:c2");
  });

  it("always grants no command of another kind", async () => {
    await using test = await open();
    const { fixture, sessionId, gate, bus } = test;
    const first = gate.permit(call("c1"));
    await bus.find({ type: "permission_request", tool_use_id: "c1" });
    await fixture.runtime.respondPermission({
      sessionId,
      toolUseId: "c1",
      isAllowed: true,
      alwaysAllow: true,
    });
    await first;
    const controller = new AbortController();
    const { signal } = controller;
    const second = gate.permit(call("c2", { input: { command: ["git", "reset"] }, signal }));
    expect((await bus.find({ type: "permission_request", tool_use_id: "c2" }))["permission_key"]).toMatch(
      /^run_terminal_cmd\(=[0-9a-f]{16}\)$/,
    );
    controller.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
  });

  it.each([
    ["a deny rule", { deny: [{ tool: "run_*" }] }, "denied by a rule"],
    ["a mode that asks nobody", { default_mode: "dontAsk" }, "nothing is asked in this mode"],
  ])("is denied by %s without a question", async (_, permissions, reason) => {
    await using test = await open(permissions);
    expect(await test.gate.permit(call("c1"))).toContain(reason);
  });

  it.each([
    ["an allow rule", { allow: [{ tool: "run_*", command: "git *" }] }],
    ["a mode that allows everything", { default_mode: "bypassPermissions" }],
  ])("is allowed by %s without a question", async (_, permissions) => {
    await using test = await open(permissions);
    expect(await test.gate.permit(call("c1"))).toBeUndefined();
  });

  it("is judged by each of its paths", async () => {
    await using test = await open({ deny: [{ tool: "*", path: "/secret/*" }] });
    const paths = (...targetPaths: string[]) => call("c1", { targetPaths, wish: "allow" });
    expect(await test.gate.permit(paths("/open/a", "/secret/a"))).toContain("denied by a rule");
    expect(await test.gate.permit(paths("/open/a"))).toBeUndefined();
  });

  it("that its own rules allow is still held to plan mode and to rules that ask", async () => {
    await using test = await open({ ask: [{ tool: "run_*", command: "rm *" }] });
    const { fixture, sessionId, gate, bus } = test;
    expect(await gate.permit(call("c1", { wish: "allow" }))).toBeUndefined();
    const asked = gate.permit(call("c2", { wish: "allow", input: { command: "ls; rm x" } }));
    await bus.find({ type: "permission_request", tool_use_id: "c2" });
    await fixture.runtime.respondPermission({ sessionId, toolUseId: "c2", isAllowed: true });
    expect(await asked).toBeUndefined();
    await fixture.runtime.switchMode(sessionId, "plan");
    expect(await gate.permit(call("c3", { wish: "allow" }))).toContain("plan mode");
    expect(await gate.permit(call("c4", { wish: "allow", isReadOnly: true }))).toBeUndefined();
  });

  it("is refused when nobody answers in time", async () => {
    await using test = await open({ request_timeout_seconds: 2 });
    const { fixture, gate, bus } = test;
    const permitted = gate.permit(call("c1"));
    await bus.find({ type: "permission_request" });
    await fixture.clock.advance(2000);
    expect(await permitted).toBe("no answer within 2 s");
    expect(await bus.find({ type: "permission_response" })).toMatchObject({ resolution: "expired" });
  });

  it("takes its question back when it ends", async () => {
    await using test = await open();
    const controller = new AbortController();
    const permitted = test.gate.permit(call("c1", { signal: controller.signal }));
    const waiting = test.gate.permit(call("c2", { signal: controller.signal }));
    await test.bus.find({ type: "permission_request" });
    controller.abort(new Error("the cell has ended"));
    await expect(permitted).rejects.toThrow("the cell has ended");
    await expect(waiting).rejects.toThrow("the cell has ended");
    expect(await test.bus.find({ type: "permission_response" })).toMatchObject({ resolution: "cancelled" });
  });

  it("is refused when the session closes, and the next one is asked in the session loaded again", async () => {
    await using test = await open();
    const { fixture, sessionId, gate, bus } = test;
    const permitted = gate.permit(call("c1"));
    const waiting = gate.permit(call("c2"));
    await bus.find({ type: "permission_request" });
    await fixture.runtime.closeSession(sessionId);
    expect(await permitted).toBe("the session that was to be asked has closed");
    expect(await waiting).toBe("the session that was to be asked has closed");
    await bus.ended;
    expect(outline(bus.events)).not.toContain("permission_request:c2");
    expect(await bus.find({ type: "permission_response" })).toMatchObject({ resolution: "cancelled" });
    const again = await fixture.watch({ sessionId });
    const next = gate.permit(call("c3"));
    await again.find({ type: "permission_request", tool_use_id: "c3" });
    await fixture.runtime.respondPermission({ sessionId, toolUseId: "c3", isAllowed: true });
    expect(await next).toBeUndefined();
  });

  it("that was asked about when its process was killed is settled by the next one, once", async () => {
    await using fixture = await RuntimeFixture.create({ isDurable: true });
    const { sessionId } = await fixture.runtime.listModels("");
    const gate = await fixture.runtime.openGate(sessionId);
    const bus = await fixture.watch({ sessionId });
    const controller = new AbortController();
    const { signal } = controller;
    const answered = gate.permit(call("c1", { signal }));
    await bus.find({ type: "permission_request", tool_use_id: "c1" });
    await fixture.runtime.respondPermission({ sessionId, toolUseId: "c1", isAllowed: true });
    await answered;
    const waiting = gate.permit(call("c2", { signal }));
    const { epoch, seq } = await bus.find({ type: "permission_request", tool_use_id: "c2" });
    {
      await using crashed = await fixture.afterCrash();
      const { events } = await crashed.runtime.subscribe({
        session: { sessionId },
        afterSeq: `${String(epoch)}:${String(seq)}`,
      });
      const again = new Reader(events);
      expect(await again.find({ type: "permission_response" })).toMatchObject({
        tool_use_id: "c2",
        allowed: false,
        resolution: "cancelled",
      });
      await expect(
        crashed.runtime.respondPermission({ sessionId, toolUseId: "c2", isAllowed: true }),
      ).rejects.toMatchObject({ reason: "REQUEST_ALREADY_ANSWERED" });
      await crashed.runtime.closeSession(sessionId);
      expect(again.events.filter(({ type }) => type === "permission_response")).toHaveLength(1);
      // Loaded once more: nothing is left to settle.
      const { events: later } = await crashed.runtime.subscribe({ session: { sessionId } });
      const last = new Reader(later);
      await last.find({ type: "server.connected" });
      await crashed.runtime.closeSession(sessionId);
      expect(outline(await last.all())).not.toContain("permission_response:c2");
    }
    controller.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
  });

  it("is settled by the next process also when one before it had its id", async () => {
    await using fixture = await RuntimeFixture.create({ isDurable: true });
    const { sessionId } = await fixture.runtime.listModels("");
    const gate = await fixture.runtime.openGate(sessionId);
    const bus = await fixture.watch({ sessionId });
    const controller = new AbortController();
    const { signal } = controller;
    const answered = gate.permit(call("c1", { signal }));
    await bus.find({ type: "permission_request" });
    await fixture.runtime.respondPermission({ sessionId, toolUseId: "c1", isAllowed: true });
    await answered;
    const { epoch, seq } = await bus.find({ type: "permission_response" });
    const again = gate.permit(call("c1", { signal }));
    await bus.find({ type: "permission_request" }, 2);
    {
      await using crashed = await fixture.afterCrash();
      const { events } = await crashed.runtime.subscribe({
        session: { sessionId },
        afterSeq: `${String(epoch)}:${String(seq)}`,
      });
      expect(await new Reader(events).find({ type: "permission_response" })).toMatchObject({
        tool_use_id: "c1",
        resolution: "cancelled",
      });
    }
    controller.abort(new Error("gone"));
    await expect(again).rejects.toThrow("gone");
  });

  it("that was answered just before its process was killed is not settled twice", async () => {
    const clock = new ManualClock();
    const log = await new MemoryEventLogStore({ clock }).open("s");
    const bus = new SessionEventBus({ sessionId: "s", log, clock, logger: silentLogger });
    const questions = new QuestionRegistry({
      bus,
      clock,
      journal: { settled() {} },
      settledKeys: [questionKey(null, "c1")],
    });
    const request = {
      type: "choice_request",
      question: "?",
      options: ["a"],
      multiple: false,
      agent_id: null,
    };
    const forgotten: string[] = [];
    using gate = new OutsideGate({
      policy: new PermissionPolicy(defaultPermissions, "/"),
      questions,
      timeoutMs: 0,
      journal: {
        asked() {},
        settled: (toolUseId) => void forgotten.push(toolUseId),
        unsettled: () => ["c1", "c2"].map((tool_use_id) => JSON.stringify({ ...request, tool_use_id })),
      },
    });
    gate.settleLost();
    await bus.flush();
    expect((await bus.readFrom(0, 10)).map(({ data }) => JSON.parse(data))).toMatchObject([
      { type: "choice_response", tool_use_id: "c2", resolution: "cancelled" },
    ]);
    expect(forgotten).toEqual(["c1", "c2"]);
  });

  it("is refused when its id is that of a question that waits, which goes on waiting", async () => {
    await using test = await open();
    const { fixture, sessionId, gate, bus } = test;
    const other = await fixture.runtime.openGate(sessionId);
    const permitted = gate.permit(call("c1"));
    await bus.find({ type: "permission_request", tool_use_id: "c1" });
    await expect(other.permit(call("c1"))).rejects.toMatchObject({ kind: "alreadyExists" });
    await expect(other.choose({ ...choice, toolUseId: "c1" })).rejects.toMatchObject({
      kind: "alreadyExists",
    });
    await fixture.runtime.respondPermission({ sessionId, toolUseId: "c1", isAllowed: true });
    expect(await permitted).toBeUndefined();
  });

  it("is refused when the session was deleted, and a choice is cancelled", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    const { session } = await sessions.create({ sessionId: "asked" });
    const gate = await fixture.runtime.openGate(session.sessionId);
    await sessions.archive("asked");
    await sessions.delete("asked");
    const gone = "the session that was to be asked cannot be had: no session has that id";
    expect(await gate.permit(call("c1", { wish: "allow" }))).toBe(gone);
    expect(await gate.choose(choice)).toMatchObject({ isCancelled: true, resolution: "cancelled" });
  });

  it("does not come through a gate to a session that is not there", async () => {
    await using fixture = await RuntimeFixture.create();
    for (const sessionId of ["", "nobody", "not an id"]) {
      await expect(fixture.runtime.openGate(sessionId)).rejects.toMatchObject({
        reason: "SESSION_NOT_FOUND",
      });
    }
  });
});

describe("a choice from outside", () => {
  it("is asked and answered like one of the session", async () => {
    await using test = await open();
    const { fixture, sessionId, gate, bus } = test;
    const chosen = gate.choose(choice);
    expect(await bus.find({ type: "choice_request" })).toMatchObject({
      tool_use_id: "s/c1/1",
      question: "Which?",
      options: ["a", "b"],
      multiple: false,
      agent_id: null,
    });
    await fixture.runtime.respondChoice({ sessionId, toolUseId: "s/c1/1", selected: ["b"] });
    expect(await chosen).toMatchObject({ selected: ["b"], resolution: "answered" });
  });

  it("is cancelled with the session", async () => {
    await using test = await open();
    const chosen = test.gate.choose(choice);
    await test.bus.find({ type: "choice_request" });
    await test.fixture.runtime.closeSession(test.sessionId);
    expect(await chosen).toMatchObject({ isCancelled: true, resolution: "cancelled" });
  });
});
