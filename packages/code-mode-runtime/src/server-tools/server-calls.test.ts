import { describe, expect, it } from "vitest";
import { ScriptedServerTools } from "../testing/scripted-server-tools.ts";
import { createSessionHarness, settle, subscribe, tool } from "../testing/session-harness.ts";

const grok = (name: string) => ({ name, namespace: "grok" });
const sessionId = "00000000-0000-4000-8000-000000000001";

function harness(options: Parameters<typeof createSessionHarness>[0] = {}) {
  const serverTools = new ScriptedServerTools(["read", "edit"]);
  return { serverTools, ...createSessionHarness({ serverTools, ...options }) };
}

describe("tools of the server", () => {
  it("stand behind the client's, once each", () => {
    const { start } = harness();
    const own = { ...tool("read", "grok"), name: "mine" };
    const { cell } = start({ tools: [tool("echo"), own] });
    expect(cell.program.tools.map(({ name }) => name)).toEqual(["echo", "mine", "grok__edit"]);
  });

  it("are no part of the stored catalogue", () => {
    const { start } = harness();
    const tools = [tool("echo")];
    start({ tools, catalogRevision: 1n });
    const { cell } = start({ tools, catalogRevision: 1n });
    expect(cell.program.tools).toHaveLength(3);
  });

  it("answer what no subscription takes, and the client sees nothing of it", async () => {
    const { start, serverTools, session, events } = harness();
    const calls = subscribe(session, [{ name: "echo", namespace: undefined }]);
    const { cell, execution } = start({ tools: [tool("echo")] });
    cell.call("tool-1", "grok__read", '{"a":1}');
    cell.call("tool-2", "echo");
    cell.call("tool-3", "grok__edit");
    await settle();
    expect(serverTools.calls).toMatchObject([
      { callId: `${sessionId}/1/tool-1`, name: "read", inputJson: '{"a":1}' },
      { callId: `${sessionId}/1/tool-3`, name: "edit", inputJson: undefined },
    ]);
    expect(calls).toMatchObject([{ toolCallId: "tool-2", sequence: 1 }]);
    serverTools.calls[1]?.fail(new Error("not today"));
    await settle();
    serverTools.calls[0]?.succeed("7");
    await settle();
    expect(cell.settled).toEqual([
      { toolCallId: "tool-3", message: "not today" },
      { toolCallId: "tool-1", json: "7" },
    ]);
    cell.complete();
    await execution.outcome;
    await settle();
    expect(events).toMatchObject([
      { type: "tool-call-cancelled" },
      { type: "cell-closed", finalToolCallSequence: 1 },
    ]);
  });

  it.each([
    ["names them", [grok("read")]],
    ["takes everything", []],
  ])("give way to a subscription that %s", async (_, filters) => {
    const { start, serverTools, session } = harness();
    const calls = subscribe(session, filters);
    start().cell.call("tool-1", "grok__read");
    await settle();
    expect(calls).toHaveLength(1);
    expect(serverTools.calls).toEqual([]);
  });

  it("take over what waited for a subscription that left", async () => {
    const { start, serverTools, session } = harness({ limits: { subscriptionBacklog: 0 } });
    const events = session.subscribe({ tools: [grok("read")], heartbeatIntervalMs: 0 });
    const { cell } = start();
    cell.call("tool-1", "grok__read");
    await events.return();
    expect(serverTools.calls).toMatchObject([{ name: "read" }]);
    expect(cell.settled).toEqual([]);
  });

  it("do not answer for other namespaces", () => {
    const { start, serverTools } = harness();
    const { cell } = start({ tools: [tool("read"), { ...tool("read", "Grok"), name: "upper" }] });
    cell.call("tool-1", "read");
    cell.call("tool-2", "upper");
    expect(cell.settled).toMatchObject([
      { message: expect.stringMatching(/subscription/) },
      { message: expect.stringMatching(/subscription/) },
    ]);
    expect(serverTools.calls).toEqual([]);
  });
});

describe("many calls", () => {
  it("run a few at a time, wait in their order, and are rejected past the room", async () => {
    const { start, serverTools } = harness({
      limits: { maxRunningServerCalls: 2, maxWaitingServerCalls: 1 },
    });
    const { cell } = start();
    for (let index = 1; index <= 4; index++) cell.call(`tool-${index}`, "grok__read", String(index));
    expect(serverTools.calls.map(({ inputJson }) => inputJson)).toEqual(["1", "2"]);
    expect(cell.settled).toMatchObject([
      { toolCallId: "tool-4", message: expect.stringMatching(/too many .* 1 of a session/) },
    ]);
    serverTools.calls[1]?.succeed("null");
    await settle();
    expect(serverTools.calls.map(({ inputJson }) => inputJson)).toEqual(["1", "2", "3"]);
  });

  it("wait with no more input than the session may hold", () => {
    const { start, serverTools } = harness({
      limits: { maxRunningServerCalls: 1, maxToolCallBacklogBytes: 6 },
    });
    const { cell } = start();
    for (let index = 1; index <= 3; index++) cell.call(`tool-${index}`, "grok__read", '"four"');
    expect(serverTools.calls).toHaveLength(1);
    expect(cell.settled).toMatchObject([
      { toolCallId: "tool-3", message: expect.stringMatching(/read does not fit.* 6 bytes/) },
    ]);
  });
});

describe("the end of a cell", () => {
  it("cancels its calls alone, and is told when they are gone", async () => {
    const { start, serverTools, events } = harness({ limits: { maxRunningServerCalls: 2 } });
    const first = start();
    const second = start();
    first.cell.call("tool-1", "grok__read");
    second.cell.call("tool-1", "grok__read");
    first.cell.call("tool-2", "grok__edit");
    first.cell.complete();
    await first.execution.outcome;
    await settle();
    expect(serverTools.calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(events).toEqual([]);
    serverTools.calls[0]?.succeed("1");
    await settle();
    expect(events).toMatchObject([{ type: "cell-closed", cellId: "1" }]);
    expect(first.cell.settled).toEqual([]);
    // What waited with the cell is gone too.
    expect(serverTools.calls).toHaveLength(2);
  });
});

describe("the end of the session", () => {
  it("comes when its calls are gone and its tools are disposed", async () => {
    const { start, serverTools, session, runtime } = harness();
    start().cell.call("tool-1", "grok__read");
    let isClosed = false;
    const closing = session.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(serverTools.calls[0]?.signal.aborted).toBe(true);
    expect([isClosed, serverTools.isDisposed]).toEqual([false, false]);
    serverTools.calls[0]?.fail(new Error("cancelled"));
    await closing;
    expect(serverTools.isDisposed).toBe(true);
    expect(runtime.stats()).toMatchObject({ sessions: 0, openCells: 0 });
  });

  it("comes also when they do not close cleanly", async () => {
    const { serverTools, session } = harness();
    serverTools[Symbol.asyncDispose] = () => Promise.reject(new Error("broken"));
    await expect(session.close()).resolves.toBeUndefined();
  });
});
