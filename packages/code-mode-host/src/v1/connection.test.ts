import { describe, expect, it } from "vitest";
import { createV1Harness, openV1Client, settle, v1Tool } from "../testing/v1-harness.ts";

const delivered = (id: number) => ({
  type: "delegate/response",
  id,
  result: { status: "ok", value: { type: "notification/delivered" } },
});
const wait = (cellId: string, yieldTimeMs: number) => ({
  method: "session/wait",
  sessionId: "s1",
  request: { cell_id: cellId, yield_time_ms: yieldTimeMs },
});
const terminate = (cellId: string) => ({ method: "session/terminate", sessionId: "s1", cellId });
const types = (messages: readonly { type: string }[]) => messages.map(({ type }) => type);

describe("a program that has ended with a notification unanswered", () => {
  it("is held back until the answer comes, and its tool calls are taken back meanwhile", async () => {
    const client = await openV1Client(createV1Harness());
    const cell = await client.start(1, { enabled_tools: [v1Tool("slow")] });
    cell.listener.notified("half way");
    cell.call("tool-1", "slow");
    cell.text("done");
    cell.complete();
    await client.until(4);
    expect(types(client.messages)).toEqual([
      "operation/response",
      "delegate/request",
      "delegate/request",
      "delegate/cancel",
    ]);
    client.send(delivered(1));
    await client.until(6);
    expect(client.messages[4].result.value.Result).toMatchObject({
      content_items: [{ type: "input_text", text: "done" }],
      error_text: null,
      result_buffered_for_ns: 0,
    });
    expect(client.messages[5].type).toBe("cell/closed");
  });

  it("still yields, and lets a wait observe it", async () => {
    const harness = createV1Harness();
    const client = await openV1Client(harness);
    const cell = await client.start(1, { yield_time_ms: 50 });
    cell.listener.notified("n");
    cell.text("a");
    cell.complete();
    await harness.clock.advance(51);
    await client.until(3);
    expect(client.messages[2].result.value.Yielded.content_items).toHaveLength(1);
    client.request(2, wait("1", 5000));
    await settle();
    client.send(delivered(1));
    await client.until(5);
    expect(client.messages[3].result.value.outcome.LiveCell.Result).toMatchObject({ content_items: [] });
  });

  it("waits 30 s at most, then takes the notification back", async () => {
    const harness = createV1Harness();
    const client = await openV1Client(harness);
    const cell = await client.start(1, { yield_time_ms: 60_000 });
    cell.listener.notified("n");
    cell.complete();
    await harness.clock.advance(29_000);
    expect(client.messages).toHaveLength(2);
    await harness.clock.advance(1_100);
    await client.until(5);
    expect(types(client.messages.slice(2))).toEqual([
      "delegate/cancel",
      "execute/initialResponse",
      "cell/closed",
    ]);
  });

  it("can be terminated", async () => {
    const client = await openV1Client(createV1Harness());
    const cell = await client.start(1, { yield_time_ms: 0 });
    cell.listener.notified("n");
    cell.complete();
    client.request(2, terminate("1"));
    await client.until(6);
    expect(types(client.messages.slice(3))).toEqual(["delegate/cancel", "operation/response", "cell/closed"]);
    expect(client.messages[4].result.value.outcome.LiveCell.Terminated).toBeDefined();
  });
});

describe("tool calls", () => {
  it.each([
    ["without", [], 1024],
    ["with", ["delegate-capacity-4096"], 4096],
  ])(
    "in one burst are all sent in order %s the larger capacity, up to it",
    async (_, capabilities, capacity) => {
      const client = await openV1Client(createV1Harness(), { capabilities });
      const cell = await client.start(1, { enabled_tools: [v1Tool("t")] });
      for (let number = 1; number <= capacity + 1; number++) cell.call(`tool-${number}`, "t");
      await client.until(1 + capacity);
      await settle();
      const sent = client.messages.slice(1);
      expect(sent.map(({ id }) => id)).toEqual(Array.from({ length: capacity }, (_one, index) => index + 1));
      expect(sent.at(-1).request.invocation.runtime_tool_call_id).toBe(`tool-${capacity}`);
      expect(cell.settled).toEqual([
        { toolCallId: `tool-${capacity + 1}`, message: expect.stringContaining(`${capacity}`) },
      ]);
    },
  );

  it("count over all sessions of a connection, notifications included", async () => {
    const harness = createV1Harness();
    const client = await openV1Client(harness);
    const cell = await client.start(1, { enabled_tools: [v1Tool("t")] });
    for (let number = 1; number <= 1023; number++) cell.listener.notified("n");
    client.request(2, { method: "session/open", sessionId: "s2" });
    const request = { tool_call_id: "c", enabled_tools: [v1Tool("t")], source: "" };
    client.request(3, { method: "session/execute", sessionId: "s2", request });
    while (harness.engine.cells.length < 2) await settle();
    harness.engine.last.call("tool-1", "t");
    harness.engine.last.call("tool-2", "t");
    expect(harness.engine.last.settled).toEqual([
      { toolCallId: "tool-2", message: "too many unanswered calls: this connection allows 1024" },
    ]);
  });

  it.each([
    ["an error", { status: "error", message: "denied" }, { message: "denied" }],
    ["a value", { status: "ok", value: { type: "tool/result", result: { a: 1 } } }, { json: '{"a":1}' }],
    [
      "an answer of the wrong kind",
      { status: "ok", value: { type: "notification/delivered" } },
      { message: expect.stringContaining("as if it were a notification") },
    ],
  ])("take %s", async (_, result, settled) => {
    const client = await openV1Client(createV1Harness());
    const cell = await client.start(1, { enabled_tools: [v1Tool("t")] });
    cell.call("tool-1", "t", '{"text":"\\ud800"}');
    await client.until(2);
    expect(client.messages[1].request.invocation.input).toEqual({ text: "\ufffd" });
    client.send({ type: "delegate/response", id: 1, result });
    // Repeated and unknown ones are nothing.
    client.send({ type: "delegate/response", id: 1, result });
    client.send({ type: "delegate/response", id: 99, result });
    while (cell.settled.length === 0) await settle();
    await settle();
    expect(cell.settled).toEqual([{ toolCallId: "tool-1", ...settled }]);
  });

  it("fail alone for a result that programs cannot take", async () => {
    const client = await openV1Client(createV1Harness());
    const cell = await client.start(1, { enabled_tools: [v1Tool("t")] });
    cell.call("tool-1", "t");
    await client.until(2);
    const result = JSON.parse(`${"[".repeat(128)}${"]".repeat(128)}`) as unknown;
    client.send({
      type: "delegate/response",
      id: 1,
      result: { status: "ok", value: { type: "tool/result", result } },
    });
    while (cell.settled.length === 0) await settle();
    expect(cell.settled[0]?.message).toContain("127 levels");
  });
});

describe("answers", () => {
  it("that do not fit in a frame once they are JSON are errors, and the connection lives", async () => {
    const client = await openV1Client(createV1Harness());
    const cell = await client.start(1);
    cell.text("\u0001".repeat(12 * 1024 * 1024));
    cell.complete();
    await client.until(3);
    expect(client.messages[1]).toMatchObject({
      type: "execute/initialResponse",
      result: { status: "error", message: expect.stringContaining("67108864 bytes") },
    });
    client.request(2, wait("1", 1));
    await client.until(4);
    expect(client.messages[3].result.status).toBe("ok");
  });

  it("to a termination come before those of the observer it meets", async () => {
    const client = await openV1Client(createV1Harness());
    await client.start(1);
    client.request(2, terminate("1"));
    await client.until(4);
    expect(client.messages.slice(1).map(({ type, id }) => [type, id])).toEqual([
      ["operation/response", 2],
      ["execute/initialResponse", 1],
      ["cell/closed", undefined],
    ]);
  });

  it("say that too many cells live, and the next program gets the next cell id", async () => {
    const client = await openV1Client(createV1Harness({ limits: { maxCells: 1 } }));
    await client.start(1);
    const request = { tool_call_id: "c", enabled_tools: [], source: "" };
    client.request(2, { method: "session/execute", sessionId: "s1", request });
    await client.until(2);
    expect(client.messages[1].result).toEqual({
      status: "error",
      message: "too many cells: this host runs 1",
    });
    client.request(3, terminate("1"));
    await client.until(5);
    await client.start(4);
    await client.until(6);
    expect(client.messages[5].result.value.cellId).toBe("2");
  });

  it("say that too many requests are in progress, over all connections", async () => {
    const harness = createV1Harness({ maxRequests: 1 });
    const client = await openV1Client(harness);
    const other = await openV1Client(harness);
    const cell = await client.start(1);
    other.request(1, wait("1", 1));
    await other.until(1);
    expect(other.messages[0].result.message).toBe("too many requests in progress: this host takes 1");
    cell.complete();
    await client.until(3);
    other.request(2, wait("1", 1));
    await other.until(2);
    expect(other.messages[1].result.status).toBe("ok");
  });
});

describe("the end of a connection", () => {
  it.each([
    ["the client leaves", (client: Awaited<ReturnType<typeof openV1Client>>) => client.input.end()],
    ["the host stops", (client: Awaited<ReturnType<typeof openV1Client>>) => client.stop()],
  ])("is clean when %s, and ends its cells without a word", async (_, leave) => {
    const harness = createV1Harness();
    const client = await openV1Client(harness);
    const cell = await client.start(1);
    await client.until(1);
    leave(client);
    expect(await client.ended).toBeUndefined();
    expect(cell.hasEnded).toBe(true);
    expect(client.messages).toHaveLength(1);
    expect(harness.runtime.stats()).toMatchObject({ sessions: 0, openCells: 0 });
  });

  it("is an error for a repeated request id, and for one in use", async () => {
    const client = await openV1Client(createV1Harness());
    await client.start(1);
    client.request(1, wait("1", 1));
    expect(await client.ended).toMatchObject({ message: "the request id 1 is used twice" });
  });

  it("does not come for a request id that 4096 others have followed", async () => {
    const client = await openV1Client(createV1Harness());
    const cell = await client.start(1);
    cell.complete();
    for (let id = 2; id < 4099; id++) client.request(id, wait("9", 1));
    await client.until(3 + 4097);
    await client.start(1);
    client.request(2, wait("9", 1));
    await client.until(3 + 4097 + 2);
    client.request(2, wait("9", 1));
    expect(await client.ended).toMatchObject({ message: "the request id 2 is used twice" });
  });

  it("comes while a session shuts down, too", async () => {
    const harness = createV1Harness();
    const client = await openV1Client(harness);
    const cell = await client.start(1);
    cell.holdsEnd = true;
    client.request(2, { method: "session/shutdown", sessionId: "s1" });
    await harness.clock.advance(100);
    expect(cell.terminations).toBe(1);
    client.input.end();
    await settle();
    cell.end({ type: "terminated" });
    expect(await client.ended).toBeUndefined();
    expect(harness.runtime.stats().sessions).toBe(0);
  });
});
