import { Code, ConnectError } from "@connectrpc/connect";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { CodeModeSession } from "./code-mode-session.ts";
import { SessionClosedError } from "./session-closed-error.ts";
import { FakeHost, SESSION_ID } from "./testing/fake-host.ts";

const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const isSessionClosed = (thrown: unknown) => SessionClosedError.isInstance(thrown);
const invocation = (index: number) => `00000000-0000-4000-8000-00000000010${index}`;
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settled();
}

describe("open", () => {
  it("asks for bounded output and heartbeats, and takes the id of the host", async () => {
    const host = new FakeHost();
    await using session = await CodeModeSession.open(host.transport, { maxYieldTimeMs: 50 });
    expect(session.sessionId).toBe(SESSION_ID);
    expect(host.opened[0]).toMatchObject({
      outputTruncation: 2,
      heartbeatIntervalS: 15,
      cellExecutionLimits: { maxYieldTimeMs: 50n },
    });
  });

  it("throws what the host answers", async () => {
    const host = new FakeHost({
      openSession() {
        throw new ConnectError("full", Code.ResourceExhausted);
      },
    });
    await expect(CodeModeSession.open(host.transport)).rejects.toMatchObject({ kind: "resourceExhausted" });
  });

  it("refuses a host that does not begin with the opening", async () => {
    const host = new FakeHost({
      async *openSession() {
        yield { event: { case: "heartbeat", value: {} } };
      },
    });
    await expect(CodeModeSession.open(host.transport)).rejects.toMatchObject({ kind: "internal" });
  });

  it("gives up after the time for an answer", async () => {
    const clock = new ManualClock();
    const host = new FakeHost({
      async *openSession(_, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield {};
      },
    });
    const opening = CodeModeSession.open(host.transport, { clock, requestTimeoutMs: 100 });
    const failure = expect(opening).rejects.toMatchObject({ kind: "deadlineExceeded" });
    await clock.advance(100);
    await failure;
  });
});

describe("execute", () => {
  it("gives the outcome in plain types", async () => {
    await using session = await CodeModeSession.open(new FakeHost().transport);
    expect(await session.execute("hi", { yieldTimeMs: 5 })).toEqual({
      cellId: "1",
      state: "completed",
      items: [{ type: "text", text: "hi" }],
      hostDurationMs: 1.5,
    });
  });

  it("that ends without an outcome means that the session is over", async () => {
    const host = new FakeHost({
      async *execute({ executionId }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
      },
    });
    const closedCells: string[] = [];
    const session = await CodeModeSession.open(host.transport, {
      onCellClosed: (cell) => closedCells.push(cell),
    });
    await expect(session.execute("")).rejects.toSatisfy(isSessionClosed);
    await expect(session.execute("")).rejects.toSatisfy(isSessionClosed);
    await until(() => closedCells.length > 0);
    expect(closedCells).toEqual(["1"]);
  });

  it.each([Code.OutOfRange, Code.ResourceExhausted])(
    "takes status %i of a started cell as too much output",
    async (code) => {
      const host = new FakeHost({
        async *execute({ executionId }) {
          yield { event: { case: "started", value: { executionId, cellId: "1" } } };
          throw new ConnectError("too large", code);
        },
      });
      await using session = await CodeModeSession.open(host.transport);
      await expect(session.execute("")).rejects.toMatchObject({ kind: "outOfRange" });
    },
  );

  it.each([
    ["another execution", [{ executionId: "foreign", cellId: "1" }]],
    [
      "a second start",
      [
        { executionId: "e", cellId: "1" },
        { executionId: "e", cellId: "2" },
      ],
    ],
  ])("ends the session on %s", async (_, starts) => {
    const host = new FakeHost({
      async *execute() {
        for (const value of starts) yield { event: { case: "started", value } };
      },
    });
    const session = await CodeModeSession.open(host.transport);
    await expect(session.execute("", { executionId: "e" })).rejects.toMatchObject({
      cause: { kind: "internal" },
    });
    expect((await session.ended).cause).toMatchObject({ kind: "internal" });
  });

  it("ends the session when the host does not answer in time", async () => {
    const clock = new ManualClock();
    const host = new FakeHost({
      async *execute(_, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield {};
      },
    });
    const session = await CodeModeSession.open(host.transport, { clock, requestTimeoutMs: 1000 });
    const failure = expect(session.execute("", { yieldTimeMs: 500 })).rejects.toMatchObject({
      kind: "deadlineExceeded",
    });
    await clock.advance(2500);
    await failure;
    expect((await session.ended).cause).toMatchObject({ kind: "deadlineExceeded" });
  });

  it("throws the reason of a signal that aborts, and the session lives", async () => {
    const controller = new AbortController();
    const host = new FakeHost({
      async *execute({ executionId }, { signal }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const execution = session.execute("", { signal: controller.signal });
    await settled();
    controller.abort(new Error("enough"));
    await expect(execution).rejects.toThrow("enough");
    await expect(session.terminate("1")).resolves.toMatchObject({ state: "live" });
  });

  it.each([-1, 1.5, Number.NaN])("refuses a yield time of %d", async (yieldTimeMs) => {
    await using session = await CodeModeSession.open(new FakeHost().transport);
    await expect(session.execute("", { yieldTimeMs })).rejects.toMatchObject({ kind: "invalidInput" });
  });

  it("sends a list of tools once, and again under a new id when the host has forgotten it", async () => {
    let mustForget = false;
    const host: FakeHost = new FakeHost({
      async *execute(request) {
        host.executed.push(request);
        if (mustForget && request.enabledTools.length === 0) {
          throw new ConnectError("catalog revision 1 is unknown", Code.FailedPrecondition);
        }
        const cellId = host.nextCell();
        yield { event: { case: "started", value: { executionId: request.executionId, cellId } } };
        yield { event: { case: "outcome", value: host.complete(request, "") } };
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const tools = [{ name: "a" }];
    await session.execute("", { tools });
    await session.execute("", { tools });
    mustForget = true;
    await session.execute("", { tools });
    expect(
      host.executed.map(({ enabledTools, catalogRevision }) => [enabledTools.length, catalogRevision]),
    ).toEqual([
      [1, 1n],
      [0, 1n],
      [0, 1n],
      [1, 2n],
    ]);
    expect(new Set(host.executed.map(({ executionId }) => executionId)).size).toBe(4);
  });
});

describe("serveTools", () => {
  it("answers calls with what the handler gives or throws", async () => {
    const host = new FakeHost({
      async *execute(request) {
        host.executed.push(request);
        const { executionId } = request;
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        for (const [index, name] of ["double", "fail", "double", "silent", "other"].entries()) {
          const input = index === 2 ? {} : { inputJson: json(21) };
          host.call({
            executionId,
            cellId: "1",
            invocationId: invocation(index),
            toolName: { name },
            ...input,
          });
        }
        await until(() => host.completed.length === 5);
        yield {
          event: { case: "outcome", value: { cellId: "1", outcome: { case: "completed", value: {} } } },
        };
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    await session.serveTools({
      double: (input) => (typeof input === "number" ? input * 2 : "nothing"),
      fail: () => {
        throw new Error("no luck");
      },
      silent: { description: "says nothing", run: () => undefined },
    });
    await session.execute("");
    expect(host.subscribed[0]?.toolNames.map(({ name }) => name)).toEqual(["double", "fail", "silent"]);
    expect(host.executed[0]?.enabledTools).toMatchObject([
      { name: "double", kind: 1 },
      { name: "fail" },
      { name: "silent", description: "says nothing" },
    ]);
    const byId = host.completed.toSorted((a, b) => a.invocationId.localeCompare(b.invocationId));
    expect(byId.map(({ outcome }) => outcome)).toMatchObject([
      { case: "succeeded", value: { outputJson: json(42) } },
      { case: "failed", value: { message: "no luck" } },
      { case: "succeeded", value: { outputJson: json("nothing") } },
      { case: "succeeded", value: { outputJson: json(null) } },
      { case: "failed", value: { message: expect.stringContaining("other") } },
    ]);
  });

  it("fails a call whose result the host refuses, and the session lives", async () => {
    const refused: string[] = [];
    const host = new FakeHost({
      async *execute(request) {
        const { executionId } = request;
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        host.call({ executionId, cellId: "1", invocationId: invocation(1), toolName: { name: "tool" } });
        await until(() => host.completed.length === 1);
        yield { event: { case: "outcome", value: host.complete(request, "done") } };
      },
      completeToolCall(request) {
        if (request.outcome.case === "succeeded") {
          refused.push(request.invocationId);
          throw new ConnectError("not this", Code.InvalidArgument);
        }
        host.completed.push(request);
        return {};
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    await session.serveTools({ tool: () => 1 });
    expect((await session.execute("")).state).toBe("completed");
    expect(refused).toEqual([invocation(1)]);
    expect(host.completed[0]?.outcome).toMatchObject({
      case: "failed",
      value: { message: expect.stringContaining("not this") },
    });
  });

  it("aborts a handler whose call is cancelled and sends no result", async () => {
    const host = new FakeHost({
      async *execute({ executionId }, { signal }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        host.call({ executionId, cellId: "1", invocationId: invocation(1), toolName: { name: "slow" } });
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const seen: string[] = [];
    await session.serveTools({
      slow: async (_, { signal }) => {
        seen.push("called");
        host.event({ case: "toolCallCancelled", value: { invocationId: invocation(1) } });
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        seen.push("aborted");
      },
    });
    session.execute("").catch(() => {});
    await until(() => seen.length === 2);
    await settled();
    expect(host.completed).toEqual([]);
  });

  it("drops a call that was cancelled before it arrived", async () => {
    const host = new FakeHost();
    await using session = await CodeModeSession.open(host.transport);
    let calls = 0;
    await session.serveTools({ tool: () => ++calls });
    host.event({ case: "toolCallCancelled", value: { invocationId: invocation(1) } });
    await settled();
    host.call({ executionId: "e", cellId: "1", invocationId: invocation(1), toolName: { name: "tool" } });
    host.call({ executionId: "e", cellId: "1", invocationId: invocation(2), toolName: { name: "tool" } });
    await until(() => host.completed.length === 1);
    expect(host.completed).toMatchObject([{ invocationId: invocation(2), outcome: { case: "failed" } }]);
    expect(calls).toBe(0);
  });

  it.each([
    [
      "of another session",
      { sessionId: "00000000-0000-4000-8000-000000000009", invocationId: invocation(1) },
    ],
    ["without a UUID", { invocationId: "1" }],
  ])("ends the session on a call %s", async (_, call) => {
    const host = new FakeHost();
    const session = await CodeModeSession.open(host.transport);
    await session.serveTools({ tool: () => 1 });
    host.call({ toolName: { name: "tool" }, ...call });
    expect((await session.ended).cause).toMatchObject({ kind: "internal" });
  });

  it("opens one subscription for every 64 tools", async () => {
    const host = new FakeHost();
    await using session = await CodeModeSession.open(host.transport);
    await session.serveTools(
      Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`t${index}`, () => 1])),
    );
    expect(host.subscribed.map(({ toolNames }) => toolNames.length)).toEqual([64, 1]);
  });

  it("refuses a tool that is served already", async () => {
    await using session = await CodeModeSession.open(new FakeHost().transport);
    await session.serveTools({ tool: () => 1 });
    await expect(session.serveTools({ tool: () => 2 })).rejects.toMatchObject({ kind: "alreadyExists" });
  });
});

describe("notifications", () => {
  it("are handled and acknowledged, and a completed outcome comes after them", async () => {
    const order: string[] = [];
    const host = new FakeHost({
      async *execute(request) {
        const { executionId } = request;
        const cellId = host.nextCell();
        yield { event: { case: "started", value: { executionId, cellId } } };
        host.event({
          case: "notification",
          value: { notificationId: invocation(1), executionId, cellId, callId: "label", text: "hello" },
        });
        yield { event: { case: "outcome", value: host.complete(request, "") } };
      },
    });
    await using session = await CodeModeSession.open(host.transport, {
      async onNotification({ text, toolCallId }) {
        await settled();
        order.push(`${toolCallId}: ${text}`);
      },
      onCellClosed: (cellId) => order.push(`closed ${cellId}`),
    });
    await session.execute("");
    order.push("outcome");
    expect(order).toEqual(["closed 1", "label: hello", "outcome"]);
    expect(host.acknowledged).toEqual([invocation(1)]);
  });

  it("whose handler fails are acknowledged all the same", async () => {
    const host = new FakeHost();
    await using session = await CodeModeSession.open(host.transport, {
      onNotification: () => Promise.reject(new Error("no")),
    });
    host.event({ case: "notification", value: { notificationId: invocation(1), executionId: "e" } });
    await until(() => host.acknowledged.length === 1);
    await expect(session.execute("a")).resolves.toBeDefined();
  });
});

describe("callbacks that throw", () => {
  it("are told to the one for errors, and the session goes on", async () => {
    const errors: unknown[] = [];
    const host = new FakeHost();
    await using session = await CodeModeSession.open(host.transport, {
      onCellClosed: (cellId) => {
        throw new Error(`closed ${cellId}`);
      },
      onNotification: () => Promise.reject(new Error("notified")),
      onCallbackError: (error) => {
        errors.push(error);
        throw new Error("never seen");
      },
    });
    await session.execute("one");
    host.event({
      case: "notification",
      value: { notificationId: "n", executionId: "e", cellId: "1", callId: "c", text: "" },
    });
    await session.execute("two");
    await until(() => errors.length === 3 && host.acknowledged.length === 1);
    expect(errors.map(String).toSorted()).toEqual(["Error: closed 1", "Error: closed 2", "Error: notified"]);
    expect(session.sessionId).toBe(SESSION_ID);
  });
});

describe("wait", () => {
  it("is one at a time for a cell", async () => {
    await using session = await CodeModeSession.open(new FakeHost().transport);
    const first = session.wait("1");
    await expect(session.wait("1")).rejects.toMatchObject({ kind: "failedPrecondition" });
    await first;
    await expect(session.wait("1")).resolves.toMatchObject({ state: "missing" });
  });

  it("that is given up is cancelled on the host, and the cell stays busy until that is done", async () => {
    const waiting = Promise.withResolvers<void>();
    const host = new FakeHost({
      async wait() {
        await waiting.promise;
        throw new ConnectError("cancelled", Code.Canceled);
      },
      cancelWait({ waitId }) {
        host.cancelledWaits.push(waitId);
        setTimeout(waiting.resolve, 5);
        return {};
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const controller = new AbortController();
    const wait = session.wait("1", { signal: controller.signal });
    await settled();
    controller.abort(new Error("enough"));
    await until(() => host.cancelledWaits.length === 1);
    await expect(session.wait("1")).rejects.toMatchObject({ kind: "failedPrecondition" });
    await expect(wait).rejects.toThrow("enough");
  });

  it("whose cancelling fails ends the session", async () => {
    const host = new FakeHost({
      wait: (_, { signal }) => new Promise((__, reject) => signal.addEventListener("abort", reject)),
      cancelWait() {
        throw new ConnectError("broken", Code.Internal);
      },
    });
    const session = await CodeModeSession.open(host.transport);
    const controller = new AbortController();
    const wait = session.wait("1", { signal: controller.signal });
    await settled();
    controller.abort();
    await expect(wait).rejects.toSatisfy(isSessionClosed);
  });

  it("that the host cancels means that the session is over", async () => {
    const host = new FakeHost({
      wait() {
        throw new ConnectError("the wait was cancelled", Code.Canceled);
      },
    });
    const session = await CodeModeSession.open(host.transport);
    await expect(session.wait("1")).rejects.toSatisfy(isSessionClosed);
  });

  it.each([
    [Code.Canceled, "Timeout expired"],
    [Code.DeadlineExceeded, "too late"],
  ])("takes status %i (%s) as running out of time, which ends the session", async (code, message) => {
    const host = new FakeHost({
      wait() {
        throw new ConnectError(message, code);
      },
    });
    const session = await CodeModeSession.open(host.transport);
    await expect(session.wait("1")).rejects.toMatchObject({ kind: "deadlineExceeded" });
    expect((await session.ended).cause).toMatchObject({ kind: "deadlineExceeded" });
  });
});

describe("run", () => {
  it("waits until the program ends", async () => {
    const host = new FakeHost({
      async *execute({ executionId }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        yield { event: { case: "outcome", value: { cellId: "1", outcome: { case: "yielded", value: {} } } } };
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const states: string[] = [];
    for await (const { state } of session.run("")) states.push(state);
    expect(states).toEqual(["yielded", "completed"]);
  });

  it("terminates a cell that its reader leaves", async () => {
    const terminated: string[] = [];
    const host = new FakeHost({
      async *execute({ executionId }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        yield { event: { case: "outcome", value: { cellId: "1", outcome: { case: "yielded", value: {} } } } };
      },
      terminate({ cellId }) {
        terminated.push(cellId);
        return { state: { case: "liveCell", value: { cellId, outcome: { case: "terminated", value: {} } } } };
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    for await (const outcome of session.run("")) if (outcome.state === "yielded") break;
    expect(terminated).toEqual(["1"]);
  });
});

describe("the end of a session", () => {
  it("closing it tells the host once and refuses further calls", async () => {
    const host = new FakeHost();
    const session = await CodeModeSession.open(host.transport);
    await Promise.all([session.close(), session.close()]);
    expect(host.closedCount).toBe(1);
    expect((await session.ended).cause).toBeUndefined();
    await expect(session.execute("")).rejects.toSatisfy(isSessionClosed);
  });

  it("closing it does not fail when the host does", async () => {
    const host = new FakeHost({
      closeSession() {
        throw new ConnectError("gone", Code.NotFound);
      },
    });
    const session = await CodeModeSession.open(host.transport);
    await expect(session.close()).resolves.toBeUndefined();
  });

  it("comes with the end of the lease", async () => {
    const host = new FakeHost();
    const session = await CodeModeSession.open(host.transport);
    host.lease.fail(new ConnectError("connection lost", Code.Unavailable));
    expect((await session.ended).cause).toMatchObject({ code: Code.Unavailable });
  });

  it("comes with the silence of a host that used to send heartbeats", async () => {
    const clock = new ManualClock();
    const host = new FakeHost();
    const session = await CodeModeSession.open(host.transport, { clock, heartbeatIntervalMs: 1000 });
    await clock.advance(10_000);
    host.event({ case: "heartbeat", value: {} });
    await clock.advance(2999);
    await expect(session.terminate("1")).resolves.toBeDefined();
    await clock.advance(1);
    expect((await session.ended).message).toContain("silent");
  });
});
