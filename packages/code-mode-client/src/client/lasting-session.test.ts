import { Code, ConnectError } from "@connectrpc/connect";
import { AsyncQueue } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import type { SessionEvent } from "@trivium/proto/code-mode";
import { describe, expect, it } from "vitest";
import { SessionClosedError } from "../session-closed-error.ts";
import { FakeHost, SESSION_ID } from "../testing/fake-host.ts";
import { CodeModeClient } from "./code-mode-client.ts";
import type { CodeModeDelegate } from "./delegate.ts";
import type { LastingSession, LastingSessionOptions } from "./lasting-session.ts";
import { StaleGenerationError } from "./stale-generation-error.ts";

const invocationId = "00000000-0000-4000-8000-000000000101";
const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const isClosed = (thrown: unknown) => SessionClosedError.isInstance(thrown);
const isStale = (thrown: unknown) => StaleGenerationError.isInstance(thrown);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settled();
}

interface Harness {
  readonly session: LastingSession;
  readonly events: unknown[];
}

function harness(
  host: FakeHost,
  delegate: Partial<CodeModeDelegate> = {},
  options: LastingSessionOptions = {},
): Harness {
  const events: unknown[] = [];
  const session = new CodeModeClient(host.transport).createSession(
    {
      invokeTool: ({ name }, { cellId }) => `${name} in ${cellId}`,
      notify: ({ cellId, text }) => void events.push(`${cellId} says ${text}`),
      cellClosed: (cellId) => events.push(`closed ${cellId}`),
      failed: (error) => events.push(error),
      ...delegate,
    },
    options,
  );
  return { session, events };
}

/** Loses the host session, as a broken connection does, and lets the client see it. */
async function lose(host: FakeHost, { session }: Harness): Promise<void> {
  host.breakConnection();
  await until(() => session.isOver);
}

describe("a lasting session", () => {
  it("is opened when it is first used, once, with a subscription", async () => {
    const host = new FakeHost();
    const { session } = harness(host, {}, { maxYieldTimeMs: 7 });
    await using _ = session;
    expect(host.opened).toEqual([]);
    await Promise.all([session.execute("a"), session.execute("b")]);
    expect(host.opened).toMatchObject([{ cellExecutionLimits: { maxYieldTimeMs: 7n } }]);
    expect(host.subscribed.map(({ toolNames }) => toolNames)).toEqual([[]]);
  });

  it("tells of the admission before the first outcome", async () => {
    const outcome = Promise.withResolvers<void>();
    const host: FakeHost = new FakeHost({
      async *execute(request) {
        const { executionId } = request;
        yield { event: { case: "started", value: { executionId, cellId: host.nextCell() } } };
        await outcome.promise;
        yield { event: { case: "outcome", value: host.complete(request, "hi") } };
      },
    });
    const { session } = harness(host);
    await using _ = session;
    const { cellId, initialResponse } = await session.execute("");
    expect(cellId).toBe("1");
    outcome.resolve();
    expect(await initialResponse).toMatchObject({ cellId: "1", items: [{ text: "hi" }] });
  });

  it("is not waited for longer than the signal of a call allows, and opens for the others", async () => {
    const mayOpen = Promise.withResolvers<void>();
    const host: FakeHost = new FakeHost({
      async *openSession(request) {
        host.opened.push(request);
        await mayOpen.promise;
        yield { event: { case: "opened", value: { sessionId: SESSION_ID } } };
        yield* host.lease;
      },
    });
    const { session } = harness(host);
    await using _ = session;
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [
      session.execute("", { signal }),
      session.wait("1", { signal }),
      session.terminate("1", { signal }),
      session.yieldObservation("1", { signal }),
    ];
    const patient = session.execute("");
    controller.abort(new Error("not so long"));
    for (const call of calls) await expect(call).rejects.toThrow("not so long");
    mayOpen.resolve();
    expect((await patient).cellId).toBe("1");
    expect(host.opened).toHaveLength(1);
  });

  it("throws what the host answers instead of an admission", async () => {
    const host = new FakeHost({
      async *execute() {
        yield* [];
        throw new ConnectError("full", Code.ResourceExhausted);
      },
    });
    const { session } = harness(host);
    await using _ = session;
    await expect(session.execute("")).rejects.toMatchObject({ kind: "resourceExhausted" });
  });

  it("follows a program to its end", async () => {
    const { session } = harness(yieldingHost());
    await using _ = session;
    const states: string[] = [];
    for await (const { state } of session.run("")) states.push(state);
    expect(states).toEqual(["yielded", "completed"]);
  });
});

describe("after a loss", () => {
  it("the next operation opens another generation, whose cells have new names everywhere", async () => {
    const host: FakeHost = new FakeHost({
      async *execute(request) {
        const { executionId, toolCallId: callId } = request;
        const cellId = "1";
        yield { event: { case: "started", value: { executionId, cellId } } };
        host.event({
          case: "notification",
          value: { notificationId: "n", executionId, cellId, callId, text: "x" },
        });
        host.call({ executionId, cellId, invocationId, toolName: { name: "tool" } });
        const before = host.completed.length;
        await until(() => host.completed.length > before);
        host.closeCell(executionId, cellId);
        yield { event: { case: "outcome", value: { cellId, outcome: { case: "completed", value: {} } } } };
      },
    });
    const test = harness(host);
    const { session, events } = test;
    await using _ = session;
    const tools = [{ name: "tool" }];
    await (await session.execute("", { tools })).initialResponse;
    await lose(host, test);
    const { cellId, initialResponse } = await session.execute("", { tools });
    expect(cellId).toBe("g2:1");
    expect((await initialResponse).cellId).toBe("g2:1");
    expect(events).toEqual(["1 says x", "closed 1", "g2:1 says x", "closed g2:1"]);
    const results = host.completed.map(({ outcome }) =>
      outcome.case === "succeeded" ? new TextDecoder().decode(outcome.value.outputJson) : outcome.case,
    );
    expect(results).toEqual(['"tool in 1"', '"tool in g2:1"']);
  });

  it("running cells are reported closed once, and refused afterwards without asking the host", async () => {
    const terminated: string[] = [];
    const host = yieldingHost({
      terminate({ cellId }) {
        terminated.push(cellId);
        return { state: { case: "liveCell", value: { cellId, outcome: { case: "terminated", value: {} } } } };
      },
    });
    const test = harness(host);
    const { session, events } = test;
    await using _ = session;
    const { cellId, initialResponse } = await session.execute("");
    await initialResponse;
    await lose(host, test);
    await until(() => events.length > 0);
    await expect(session.terminate(cellId)).rejects.toSatisfy(isStale);
    await expect(session.wait("g3:1")).rejects.toSatisfy(isStale);
    await expect(session.yieldObservation("1")).rejects.toSatisfy(isStale);
    expect(terminated).toEqual([]);
    expect((await session.terminate("g2:1")).outcome.cellId).toBe("g2:1");
    expect(terminated).toEqual(["1"]);
    expect(events).toEqual(["closed 1"]);
  });

  it("its cells are refused before another session is opened for them", async () => {
    const host = yieldingHost();
    const test = harness(host);
    const { session } = test;
    await using _ = session;
    const { cellId, initialResponse } = await session.execute("");
    await initialResponse;
    await lose(host, test);
    await expect(session.wait(cellId)).rejects.toSatisfy(isStale);
    await expect(session.yieldObservation(cellId)).rejects.toSatisfy(isStale);
    expect(host.opened).toHaveLength(1);
    expect((await session.execute("")).cellId).toBe("g2:1");
  });

  it("leaving the loop over a lost program is no failure", async () => {
    const host = yieldingHost();
    const test = harness(host);
    const { session } = test;
    await using _ = session;
    for await (const { cellId } of session.run("")) {
      expect(cellId).toBe("1");
      await lose(host, test);
      await session.execute("");
      break;
    }
    expect(host.opened).toHaveLength(2);
  });

  it("a missing cell is called by the name that the caller knows", async () => {
    const errorText = "exec cell 5 not found";
    const host = new FakeHost({
      wait: ({ cellId }) => ({
        state: {
          case: "missingCell",
          value: {
            cellId,
            contentItems: [{ item: { case: "text", value: { text: `Script error:\n${errorText}` } } }],
            outcome: { case: "completed", value: { errorText } },
          },
        },
      }),
    });
    const test = harness(host);
    await using session = test.session;
    await session.execute("");
    await lose(host, test);
    expect(await session.wait("g2:5")).toEqual({
      state: "missing",
      outcome: {
        cellId: "g2:5",
        state: "completed",
        items: [{ type: "text", text: "Script error:\nexec cell g2:5 not found" }],
        errorText: "exec cell g2:5 not found",
      },
    });
  });

  it("counts attempts to open that failed", async () => {
    let attempts = 0;
    const host: FakeHost = new FakeHost({
      async *openSession(_, { signal }) {
        if (++attempts === 2) throw new ConnectError("not now", Code.Unavailable);
        const lease = new AsyncQueue<SessionEvent>(1);
        host.lease = lease;
        signal.addEventListener("abort", () => void lease.return());
        yield { event: { case: "opened", value: { sessionId: SESSION_ID } } };
        yield* lease;
      },
    });
    const test = harness(host);
    await using session = test.session;
    await session.execute("");
    await lose(host, test);
    await expect(session.execute("")).rejects.toMatchObject({ kind: "unavailable" });
    expect((await session.execute("")).cellId).toMatch(/^g3:/);
  });

  it("comes also when the host answers too late", async () => {
    const clock = new ManualClock();
    const waited = Promise.withResolvers<void>();
    const host = new FakeHost({
      wait: (_, { signal }) =>
        new Promise((__, reject) => {
          waited.resolve();
          signal.addEventListener("abort", reject);
        }),
    });
    const { session } = harness(host, {}, { clock, requestTimeoutMs: 1000 });
    await using _ = session;
    await session.execute("");
    const failure = expect(session.wait("9", { yieldTimeMs: 500 })).rejects.toMatchObject({
      kind: "deadlineExceeded",
    });
    await waited.promise;
    await clock.advance(2500);
    await failure;
    expect(session.isOver).toBe(true);
    expect((await session.execute("")).cellId).toMatch(/^g2:/);
  });
});

describe("shutdown", () => {
  it("closes the host session once and refuses everything afterwards", async () => {
    const host = new FakeHost();
    const { session } = harness(host);
    await session.execute("");
    await Promise.all([session.shutdown(), session.shutdown()]);
    expect(host.closedCount).toBe(1);
    await expect(session.execute("")).rejects.toSatisfy(isClosed);
    await expect(session.wait("1")).rejects.toSatisfy(isClosed);
    expect(host.opened).toHaveLength(1);
  });

  it("is safe when nothing was opened", async () => {
    const host = new FakeHost();
    const { session } = harness(host);
    await session.shutdown();
    await expect(session.execute("")).rejects.toSatisfy(isClosed);
    expect(host.opened).toEqual([]);
  });

  it("ends an opening that is in progress", async () => {
    const opening = Promise.withResolvers<void>();
    const host = new FakeHost({
      async *openSession(_, { signal }) {
        opening.resolve();
        await until(() => signal.aborted);
        yield* [];
      },
    });
    const { session } = harness(host);
    const failure = expect(session.execute("")).rejects.toSatisfy(isClosed);
    await opening.promise;
    await session.shutdown();
    await failure;
  });
});

describe("callbacks that throw", () => {
  it("are reported, and the session goes on", async () => {
    const host = new FakeHost();
    const { session, events } = harness(host, {
      cellClosed: () => {
        throw new Error("no");
      },
    });
    await using _ = session;
    await (await session.execute("")).initialResponse;
    await until(() => events.length === 1);
    expect(events).toMatchObject([{ message: "no" }]);
    expect(session.isOver).toBe(false);
  });
});

function yieldingHost(handlers: ConstructorParameters<typeof FakeHost>[0] = {}): FakeHost {
  return new FakeHost({
    async *execute({ executionId }) {
      yield { event: { case: "started", value: { executionId, cellId: "1" } } };
      yield { event: { case: "outcome", value: { cellId: "1", outcome: { case: "yielded", value: {} } } } };
    },
    ...handlers,
  });
}
