import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { CellBusyError } from "./cell-busy-error.ts";
import { CodeModeSession } from "./code-mode-session.ts";
import { SessionClosedError } from "./session-closed-error.ts";
import { FakeHost, SESSION_ID } from "./testing/fake-host.ts";

const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const isSessionClosed = (thrown: unknown) => SessionClosedError.isInstance(thrown);
const invocation = (index: number) => `00000000-0000-4000-8000-00000000010${index}`;
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Gives what was received before the end of a call after it, as transports do that took several messages at once. */
function buffering(transport: Transport): Transport {
  return {
    unary: (...call) => transport.unary(...call),
    stream: (method, _signal, ...call) => transport.stream(method, undefined, ...call),
  };
}

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

describe("what a host sends behind a message that ends the session", () => {
  it("is not acted on", async () => {
    const acted: unknown[] = [];
    const host: FakeHost = new FakeHost({
      async *execute({ executionId }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        const call = { executionId, cellId: "1", toolName: { name: "tool" } };
        host.call({ ...call, sessionId: "another", invocationId: invocation(1) });
        host.call({ ...call, invocationId: invocation(2) });
        await new Promise(() => {});
      },
    });
    const session = await CodeModeSession.open(buffering(host.transport), {
      onToolCall: ({ name }) => acted.push(name),
    });
    void session.execute("", { tools: [{ name: "tool" }] }).catch(() => {});
    await session.ended;
    await settled();
    expect(acted).toEqual([]);
  });

  it("says nothing to the program's caller", async () => {
    const acted: unknown[] = [];
    const host: FakeHost = new FakeHost({
      async *execute({ executionId, toolCallId }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        const said = { executionId, cellId: "1", text: "x" };
        host.event({
          case: "notification",
          value: { ...said, notificationId: invocation(1), callId: "another" },
        });
        host.event({
          case: "notification",
          value: { ...said, notificationId: invocation(2), callId: toolCallId },
        });
        await new Promise(() => {});
      },
    });
    const session = await CodeModeSession.open(buffering(host.transport), {
      onNotification: ({ text }) => void acted.push(text),
    });
    void session.execute("").catch(() => {});
    await session.ended;
    await settled();
    expect(acted).toEqual([]);
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
    await session.execute("", { toolCallId: "label" });
    order.push("outcome");
    expect(order).toEqual(["label: hello", "closed 1", "outcome"]);
    expect(host.acknowledged).toEqual([invocation(1)]);
  });

  it("whose handler fails are acknowledged all the same", async () => {
    const host = notifyingHost();
    await using session = await CodeModeSession.open(host.transport, {
      onNotification: () => Promise.reject(new Error("no")),
    });
    await expect(session.execute("a")).resolves.toBeDefined();
    await until(() => host.acknowledged.length === 1);
  });

  it("of a program that is gone are acknowledged and not told", async () => {
    const host = new FakeHost();
    const heard: string[] = [];
    await using session = await CodeModeSession.open(host.transport, {
      onNotification: ({ text }) => void heard.push(text),
    });
    host.event({ case: "notification", value: { notificationId: invocation(1), executionId: "gone" } });
    await until(() => host.acknowledged.length === 1);
    expect(heard).toEqual([]);
    expect(session.isOver).toBe(false);
  });

  it("under the label of another program end the session", async () => {
    const session = await CodeModeSession.open(notifyingHost("foreign").transport);
    await expect(session.execute("a")).rejects.toSatisfy(isSessionClosed);
    expect((await session.ended).cause).toMatchObject({ kind: "internal" });
  });

  it("are cut short by the termination of their program", async () => {
    const running = Promise.withResolvers<void>();
    const host = new FakeHost({
      async *execute({ executionId, toolCallId: callId }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        const notificationId = invocation(1);
        host.event({ case: "notification", value: { notificationId, executionId, cellId: "1", callId } });
        await running.promise;
        yield {
          event: { case: "outcome", value: { cellId: "1", outcome: { case: "terminated", value: {} } } },
        };
        host.closeCell(executionId, "1");
      },
    });
    const order: string[] = [];
    await using session = await CodeModeSession.open(host.transport, {
      async onNotification(_, signal) {
        running.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        order.push("aborted");
      },
      onCellClosed: (cellId) => order.push(`closed ${cellId}`),
    });
    expect((await session.execute("")).state).toBe("terminated");
    await until(() => order.length === 2);
    expect(order).toEqual(["aborted", "closed 1"]);
  });
});

describe("callbacks that throw", () => {
  it("are told to the one for errors, and the session goes on", async () => {
    const errors: unknown[] = [];
    const host = notifyingHost();
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
    await session.execute("two");
    await until(() => errors.length === 4 && host.acknowledged.length === 2);
    expect(errors.map(String).toSorted()).toEqual([
      "Error: closed 1",
      "Error: closed 2",
      "Error: notified",
      "Error: notified",
    ]);
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
        return {};
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const controller = new AbortController();
    const wait = session.wait("1", { signal: controller.signal });
    await settled();
    controller.abort(new Error("enough"));
    await until(() => host.cancelledWaits.length === 1);
    await expect(session.wait("1")).rejects.toSatisfy((thrown) => CellBusyError.isInstance(thrown));
    waiting.resolve();
    await expect(wait).rejects.toThrow("enough");
    await expect(session.wait("1")).rejects.toSatisfy(isSessionClosed);
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

describe("an execute that is given up", () => {
  it("reports its cell closed at once and only once, and answers no more of its calls", async () => {
    const host = new FakeHost({
      async *execute({ executionId }, { signal }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    const closed: string[] = [];
    await using session = await CodeModeSession.open(host.transport, {
      onCellClosed: (cellId) => closed.push(cellId),
    });
    await session.serveTools({ tool: () => 1 });
    const controller = new AbortController();
    const onStarted = (): void => controller.abort(new Error("enough"));
    const options = { signal: controller.signal, executionId: "e1", onStarted };
    await expect(session.execute("", options)).rejects.toThrow("enough");
    host.call({ executionId: "e1", cellId: "1", invocationId: invocation(1), toolName: { name: "tool" } });
    host.closeCell("e1", "1");
    await until(() => host.completed.length === 1);
    expect(host.completed[0]?.outcome).toMatchObject({
      case: "failed",
      value: { message: expect.stringMatching(/closed/) },
    });
    await settled();
    expect(closed).toEqual(["1"]);
  });
});

describe("a delegate", () => {
  const callingHost = (toolName: { name: string; namespace?: string }) => {
    const host: FakeHost = new FakeHost({
      async *execute(request) {
        host.executed.push(request);
        const { executionId } = request;
        const cellId = host.nextCell();
        yield { event: { case: "started", value: { executionId, cellId } } };
        host.call({
          executionId,
          cellId,
          invocationId: invocation(Number(cellId)),
          runtimeToolCallId: "tool-1",
          toolName,
          inputJson: json({ a: 1 }),
        });
        await until(() => host.completed.length === Number(cellId));
        yield { event: { case: "outcome", value: host.complete(request, "") } };
      },
    });
    return host;
  };

  it("answers what has no handler, through one subscription to everything", async () => {
    const host = callingHost({ name: "any", namespace: "ns" });
    const calls: unknown[] = [];
    await using session = await CodeModeSession.open(host.transport, {
      onToolCall(call, { cellId }) {
        calls.push({ ...call, cellId });
        return "done";
      },
    });
    expect(host.subscribed.map(({ toolNames }) => toolNames)).toEqual([[]]);
    await session.execute("", { tools: [{ name: "any", namespace: "ns" }] });
    expect(calls).toEqual([
      {
        name: "any",
        namespace: "ns",
        kind: "function",
        input: { a: 1 },
        runtimeToolCallId: "tool-1",
        cellId: "1",
      },
    ]);
    expect(host.completed[0]?.outcome).toMatchObject({ value: { outputJson: json("done") } });
  });

  it.each([
    ["a tool that the program was not given", { name: "other" }, [{ name: "any" }]],
    ["exec, which is the model's", { name: "exec" }, [{ name: "exec" }]],
  ])("is not asked for %s", async (_, toolName, tools) => {
    const host = callingHost(toolName);
    await using session = await CodeModeSession.open(host.transport, { onToolCall: () => "done" });
    await session.execute("", { tools });
    expect(host.completed[0]?.outcome).toMatchObject({
      case: "failed",
      value: { message: expect.stringMatching(/not enabled/) },
    });
  });

  it("beside tools of the server subscribes to the tools of each program in turn", async () => {
    const host = callingHost({ name: "b" });
    await using session = await CodeModeSession.open(host.transport, {
      serverTools: "grok",
      toolSession: "mine",
      permissionSession: "people",
      onToolCall: () => 1,
    });
    expect(host.openHeaders[0]?.get("trivium-server-tools")).toBe("grok");
    expect(host.openHeaders[0]?.get("x-trivium-session")).toBe("mine");
    expect(host.openHeaders[0]?.get("trivium-permission-session")).toBe("people");
    expect(host.subscribed).toEqual([]);
    await session.execute("", {
      tools: [{ name: "b" }, { name: "grok_ls", toolName: "ls", namespace: "grok" }],
    });
    await session.execute("", { tools: [{ name: "b" }, { name: "c", namespace: "n" }] });
    expect(host.subscribed.map(({ toolNames }) => toolNames.map(({ name }) => name))).toEqual([["b"], ["c"]]);
  });

  it("that is asked too much at a time is spared", async () => {
    const host: FakeHost = new FakeHost({
      async *execute(request) {
        const { executionId } = request;
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        for (const index of [1, 2]) {
          host.call({ executionId, cellId: "1", invocationId: invocation(index), toolName: { name: "any" } });
        }
        await until(() => host.completed.length === 2);
        yield { event: { case: "outcome", value: host.complete(request, "") } };
      },
    });
    const first = Promise.withResolvers<string>();
    await using session = await CodeModeSession.open(host.transport, {
      maxPendingCalls: 1,
      onToolCall: () => first.promise,
    });
    const execution = session.execute("", { tools: [{ name: "any" }] });
    await until(() => host.completed.length === 1);
    expect(host.completed[0]?.outcome).toMatchObject({
      case: "failed",
      value: { message: expect.stringMatching(/too many/) },
    });
    first.resolve("late");
    await execution;
  });
});

describe("yieldObservation", () => {
  it("names the look that is in progress", async () => {
    const observed: unknown[] = [];
    const waiting = Promise.withResolvers<void>();
    const host = new FakeHost({
      async *execute({ executionId }) {
        yield { event: { case: "started", value: { executionId, cellId: "1" } } };
        await waiting.promise;
        yield { event: { case: "outcome", value: { cellId: "1", outcome: { case: "yielded", value: {} } } } };
      },
      yieldObservation({ observation }) {
        observed.push(observation);
        waiting.resolve();
        return {};
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const started = Promise.withResolvers<string>();
    const execution = session.execute("", { executionId: "e1", onStarted: started.resolve });
    await session.yieldObservation(await started.promise);
    expect((await execution).state).toBe("yielded");
    const wait = session.wait("1");
    await session.yieldObservation("1");
    await wait;
    await session.yieldObservation("unknown");
    expect(observed).toMatchObject([
      { case: "executionId", value: "e1" },
      { case: "waitId", value: expect.any(String) },
    ]);
  });
});

describe("what the host says of an error", () => {
  it("is cut to a bearable length", async () => {
    const host = new FakeHost({
      terminate() {
        throw new ConnectError("é".repeat(400), Code.NotFound);
      },
    });
    await using session = await CodeModeSession.open(host.transport);
    const failure = session.terminate("1");
    await expect(failure).rejects.toMatchObject({ kind: "notFound", message: `${"é".repeat(254)}...` });
  });
});

/** A host whose every program says something. */
function notifyingHost(label?: string): FakeHost {
  const host: FakeHost = new FakeHost({
    async *execute(request) {
      const { executionId, toolCallId } = request;
      const cellId = host.nextCell();
      yield { event: { case: "started", value: { executionId, cellId } } };
      const notificationId = invocation(Number(cellId));
      const callId = label ?? toolCallId;
      host.event({ case: "notification", value: { notificationId, executionId, cellId, callId, text: "" } });
      yield { event: { case: "outcome", value: host.complete(request, "") } };
    },
  });
  return host;
}
