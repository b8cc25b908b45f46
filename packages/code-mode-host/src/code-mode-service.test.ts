import { Code, type ConnectError } from "@connectrpc/connect";
import { type ToolDefinition, ToolKind } from "@trivium/proto/code-mode";
import { describe, expect, it } from "vitest";
import { createHostHarness } from "./testing/host-harness.ts";

const text = (value: string) => ({ item: { case: "text", value: { text: value } } });
const tool = (name: string) => ({ name, toolName: { name }, kind: ToolKind.FUNCTION });
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const codeOf = (error: unknown) => (error as ConnectError | undefined)?.code;

describe("OpenSession", () => {
  it("says the session id and that catalogue revisions are understood", async () => {
    const { open } = createHostHarness();
    const { messages } = await open();
    expect(messages[0]?.event).toMatchObject({
      case: "opened",
      value: { sessionId: "00000000-0000-4000-8000-000000000001", outputTruncation: 0, catalogSupport: 1 },
    });
  });

  it.each([
    ["an unknown truncation", { outputTruncation: 3 }],
    ["no room for tool calls", { maxPendingDelegateCalls: 0 }],
  ])("refuses %s", async (_, request) => {
    const { open, runtime } = createHostHarness();
    await expect(open(request as object)).rejects.toMatchObject({ cause: { code: Code.InvalidArgument } });
    expect(runtime.stats().sessions).toBe(0);
  });

  it("sends a heartbeat after each idle interval", async () => {
    const { open, clock } = createHostHarness();
    const lease = await open({ heartbeatIntervalS: 2 });
    await clock.advance(4100);
    expect(lease.messages.map((message) => message.event.case)).toEqual(["opened", "heartbeat", "heartbeat"]);
  });

  it("closes the session when the client drops the stream", async () => {
    const { open, runtime, engine } = createHostHarness();
    const lease = await open();
    const execute = lease.execute({ executionId: "e1" });
    await execute.until(1);
    lease.reset();
    expect(await execute.ended).toBeUndefined();
    expect(engine.last.hasEnded).toBe(true);
    expect(runtime.stats()).toMatchObject({ sessions: 0, openCells: 0 });
    expect(engine.releasedSessions).toEqual([lease.sessionId]);
  });
});

describe("CloseSession", () => {
  it("ends every stream cleanly and without a word, and cancels waits", async () => {
    const { open, client, engine } = createHostHarness();
    const lease = await open();
    const { sessionId } = lease;
    const calls = lease.subscribe();
    const first = lease.execute({ executionId: "e1", yieldTimeMs: 0n });
    await first.until(1);
    engine.last.listener.ready();
    await first.ended;
    const wait = client.wait({ sessionId, cellId: "1", waitId: "w1", yieldTimeMs: 5000n });
    const second = lease.execute({ executionId: "e2" });
    await second.until(1);
    const failure = expect(wait).rejects.toMatchObject({ code: Code.Canceled });
    await client.closeSession({ sessionId });
    await failure;
    expect(await Promise.all([lease.ended, calls.ended, second.ended])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(lease.messages).toHaveLength(1);
    expect(second.messages).toHaveLength(1);
    await expect(client.closeSession({ sessionId })).rejects.toMatchObject({ code: Code.NotFound });
  });

  it("answers only when the cells are gone", async () => {
    const { open, client, engine } = createHostHarness();
    const { sessionId, execute } = await open();
    await execute({ executionId: "e1" }).until(1);
    engine.last.holdsEnd = true;
    let isClosed = false;
    const closed = client.closeSession({ sessionId }).then(() => {
      isClosed = true;
    });
    await settled();
    expect(isClosed).toBe(false);
    engine.last.end({ type: "terminated" });
    await closed;
  });
});

describe("identifiers", () => {
  it.each([
    ["", Code.InvalidArgument, "empty"],
    ["x".repeat(257), Code.InvalidArgument, "256 bytes"],
    ["nope", Code.InvalidArgument, "not a UUID"],
    ["{00000000-0000-4000-8000-0000000000ff}", Code.NotFound, "{00000000-0000-4000-8000-0000000000ff}"],
    ["000000000000400080000000000000ff", Code.NotFound, "000000000000400080000000000000ff"],
  ])("answers the session id %j with %s", async (sessionId, code, part) => {
    const { client } = createHostHarness();
    await expect(client.closeSession({ sessionId })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(part),
    });
  });

  it("takes every textual form of a UUID", async () => {
    const { open, client } = createHostHarness();
    const { sessionId } = await open();
    const braced = `{${sessionId.toUpperCase()}}`;
    await expect(client.closeSession({ sessionId: braced })).resolves.toBeDefined();
  });

  it("does not spend an execution id on a request that is refused for its form", async () => {
    const { open } = createHostHarness();
    const { execute } = await open();
    const refused = execute({ executionId: "e1", enabledTools: [{ name: "a", kind: ToolKind.FUNCTION }] });
    expect(codeOf(await refused.ended)).toBe(Code.InvalidArgument);
    await expect(execute({ executionId: "e1" }).until(1)).resolves.toHaveLength(1);
  });

  it.each([
    ["no name", { name: "", toolName: { name: "a" }, kind: 1 }],
    ["no tool name", { name: "a", kind: 1 }],
    ["an empty tool name", { name: "a", toolName: { name: "" }, kind: 1 }],
    ["a long namespace", { name: "a", toolName: { name: "a", namespace: "n".repeat(257) }, kind: 1 }],
    ["no kind", { name: "a", toolName: { name: "a" }, kind: 0 }],
    ["an unknown kind", { name: "a", toolName: { name: "a" }, kind: 3 }],
    ["a bad schema", { name: "a", toolName: { name: "a" }, kind: 1, inputSchemaJson: new Uint8Array() }],
  ])("refuses a tool with %s", async (_, definition) => {
    const { open } = createHostHarness();
    const { execute } = await open();
    const refused = execute({ executionId: "e1", enabledTools: [definition as ToolDefinition] });
    expect(codeOf(await refused.ended)).toBe(Code.InvalidArgument);
  });
});

describe("Execute", () => {
  it("sends started, then the outcome, then ends", async () => {
    const { open, engine } = createHostHarness();
    const { execute } = await open();
    engine.onStart = (cell) => {
      cell.text("hi");
      cell.complete();
    };
    const stream = execute({ executionId: "e1", source: "text('hi')" });
    expect(await stream.ended).toBeUndefined();
    expect(stream.messages.map((message) => message.event)).toMatchObject([
      { case: "started", value: { executionId: "e1", cellId: "1" } },
      {
        case: "outcome",
        value: {
          cellId: "1",
          contentItems: [text("hi")],
          outcome: { case: "completed" },
          codeModeHostDurationNs: expect.any(BigInt),
        },
      },
    ]);
    expect(engine.last.program.source).toBe("text('hi')");
  });

  it("terminates the cell when its client leaves before the outcome", async () => {
    const { open, client, engine } = createHostHarness();
    const lease = await open();
    const { sessionId } = lease;
    const stream = lease.execute({ executionId: "e1" });
    await stream.until(1);
    engine.last.listener.stored("k", "1");
    stream.reset();
    const [, closed] = await lease.until(2);
    expect(closed?.event).toMatchObject({ case: "cellClosed", value: { executionId: "e1", cellId: "1" } });
    expect(engine.last.terminations).toBe(1);
    const { state } = await client.wait({ sessionId, cellId: "1", waitId: "w1" });
    expect(state).toMatchObject({
      case: "missingCell",
      value: { outcome: { case: "completed", value: { errorText: "exec cell 1 not found" } } },
    });
    await lease.execute({ executionId: "e2" }).until(1);
    expect(engine.last.program.stored.size).toBe(0);
  });

  it("keeps a cell whose client leaves after a yield", async () => {
    const { open, client, engine } = createHostHarness();
    const { execute, sessionId } = await open();
    const stream = execute({ executionId: "e1", yieldTimeMs: 0n });
    await stream.until(1);
    engine.last.listener.ready();
    await stream.ended;
    stream.reset();
    engine.last.complete();
    const { state } = await client.wait({ sessionId, cellId: "1", waitId: "w1" });
    expect(state.case).toBe("liveCell");
  });

  it("answers with OUT_OF_RANGE when the output fits in no message, and the cell is closed", async () => {
    const { open, engine } = createHostHarness({ limits: { maxMessageBytes: 1000 } });
    const lease = await open();
    engine.onStart = (cell) => {
      cell.text("x".repeat(1000));
      cell.complete();
    };
    const stream = lease.execute({ executionId: "e1" });
    expect(codeOf(await stream.ended)).toBe(Code.OutOfRange);
    const [, closed] = await lease.until(2);
    expect(closed?.event.case).toBe("cellClosed");
  });

  it("answers with RESOURCE_EXHAUSTED past the limit of cells and spends nothing", async () => {
    const { open, client, engine } = createHostHarness({ limits: { maxCells: 1 } });
    const { execute, sessionId } = await open();
    await execute({ executionId: "e1" }).until(1);
    expect(codeOf(await execute({ executionId: "e2" }).ended)).toBe(Code.ResourceExhausted);
    engine.last.complete();
    await settled();
    const [started] = await execute({ executionId: "e2" }).until(1);
    expect(started?.event).toMatchObject({ value: { cellId: "2" } });
    await client.closeSession({ sessionId });
  });
});

describe("Wait and Terminate", () => {
  it("say how long a completed result lay there", async () => {
    const { open, client, engine, clock } = createHostHarness();
    const { execute, sessionId } = await open();
    const stream = execute({ executionId: "e1", yieldTimeMs: 0n });
    await stream.until(1);
    engine.last.listener.ready();
    await stream.ended;
    engine.last.complete();
    await clock.advance(25);
    const headers: Headers[] = [];
    const onHeader = (header: Headers) => void headers.push(header);
    await client.wait({ sessionId, cellId: "1", waitId: "w1" }, { onHeader });
    await client.wait({ sessionId, cellId: "1", waitId: "w2" }, { onHeader });
    expect(headers.map((header) => header.get("codex-code-mode-result-buffered-for-ns"))).toEqual([
      "25000000",
      null,
    ]);
  });

  it("Wait without a time yields at once", async () => {
    const { open, client, engine } = createHostHarness();
    const { execute, sessionId } = await open();
    const stream = execute({ executionId: "e1", yieldTimeMs: 0n });
    await stream.until(1);
    engine.last.listener.ready();
    await stream.ended;
    const { state } = await client.wait({ sessionId, cellId: "1", waitId: "w1" });
    expect(state).toMatchObject({ case: "liveCell", value: { outcome: { case: "yielded" } } });
  });

  it("a Wait that its client drops frees the cell for the next one", async () => {
    const { open, client, engine } = createHostHarness();
    const { execute, sessionId } = await open();
    const stream = execute({ executionId: "e1", yieldTimeMs: 0n });
    await stream.until(1);
    engine.last.listener.ready();
    await stream.ended;
    const controller = new AbortController();
    const dropped = client.wait(
      { sessionId, cellId: "1", waitId: "w1", yieldTimeMs: 5000n },
      { signal: controller.signal },
    );
    await settled();
    engine.last.text("kept");
    controller.abort();
    await expect(dropped).rejects.toMatchObject({ code: Code.Canceled });
    const next = client.wait({ sessionId, cellId: "1", waitId: "w2", yieldTimeMs: 5000n });
    await settled();
    engine.last.complete();
    expect((await next).state.value?.contentItems).toMatchObject([text("kept")]);
  });

  it("refuses more requests than the host takes at a time", async () => {
    const { open, client, engine } = createHostHarness({ maxRequests: 1 });
    const { execute, sessionId } = await open();
    const stream = execute({ executionId: "e1", yieldTimeMs: 0n });
    await stream.until(1);
    engine.last.listener.ready();
    await stream.ended;
    const wait = client.wait({ sessionId, cellId: "1", waitId: "w1", yieldTimeMs: 5000n });
    await settled();
    await expect(client.cancelWait({ sessionId, waitId: "w1" })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
    engine.last.complete();
    await wait;
    await client.cancelWait({ sessionId, waitId: "w1" });
  });
});

describe("tool calls", () => {
  it("travel with their argument and come back as JSON or as a message", async () => {
    const { open, client, engine } = createHostHarness();
    const { execute, subscribe, sessionId } = await open();
    const calls = subscribe();
    await execute({ executionId: "e1", enabledTools: [tool("echo")] }).until(1);
    engine.last.call("tool-1", "echo", '{"a":1}');
    engine.last.call("tool-2", "echo");
    const [first, second] = await calls.until(2);
    expect(first).toMatchObject({
      sessionId,
      executionId: "e1",
      cellId: "1",
      runtimeToolCallId: "tool-1",
      toolName: { name: "echo" },
      toolKind: 1,
      inputJson: json({ a: 1 }),
      sequence: 1n,
    });
    expect(second?.inputJson).toBeUndefined();
    const [one = "", two = ""] = [first?.invocationId, second?.invocationId];
    await client.completeToolCall({
      sessionId,
      invocationId: one,
      outcome: { case: "succeeded", value: { outputJson: json([1]) } },
    });
    await client.completeToolCall({
      sessionId,
      invocationId: two,
      outcome: { case: "failed", value: { message: "no" } },
    });
    expect(engine.last.settled).toEqual([
      { toolCallId: "tool-1", json: "[1]" },
      { toolCallId: "tool-2", message: "no" },
    ]);
  });

  it.each([
    ["broken JSON", "{bad"],
    ["nothing", ""],
    ["a lone surrogate", String.raw`"\ud800"`],
    ["a low surrogate first", String.raw`"\udc00\ud800"`],
    ["128 levels", `${"[".repeat(128)}${"]".repeat(128)}`],
  ])("stay open when the result is %s", async (_, output) => {
    const { open, client, engine } = createHostHarness();
    const { execute, subscribe, sessionId } = await open();
    const calls = subscribe();
    await execute({ executionId: "e1", enabledTools: [tool("echo")] }).until(1);
    engine.last.call("tool-1", "echo");
    const [call] = await calls.until(1);
    const complete = (outputJson: Uint8Array) =>
      client.completeToolCall({
        sessionId,
        invocationId: call?.invocationId ?? "",
        outcome: { case: "succeeded", value: { outputJson } },
      });
    await expect(complete(new TextEncoder().encode(output))).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
    await complete(json("\ud83c\udf0d"));
    expect(engine.last.settled).toEqual([{ toolCallId: "tool-1", json: '"🌍"' }]);
  });

  it("a stalled subscription ends with its session", async () => {
    const { open, runtime, engine } = createHostHarness();
    const lease = await open();
    const calls = lease.subscribe();
    await lease.execute({ executionId: "e1", enabledTools: [tool("echo")] }).until(1);
    engine.last.call("tool-1", "echo");
    await calls.until(1);
    calls.reset();
    expect(await lease.ended).toBeUndefined();
    expect(runtime.stats().sessions).toBe(0);
  });
});

it("GetProcessMetrics is not implemented", async () => {
  const { client } = createHostHarness();
  await expect(client.getProcessMetrics({})).rejects.toMatchObject({ code: Code.Unimplemented });
});
