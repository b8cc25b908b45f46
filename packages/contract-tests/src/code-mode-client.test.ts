import type { Transport } from "@connectrpc/connect";
import {
  CodeModeClient,
  CodeModeSession,
  parseExecSource,
  presentOutcome,
  renderTools,
  SessionClosedError,
  StaleGenerationError,
} from "@trivium/code-mode-client";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CodeModeServer, startCodeModeServer } from "./code-mode/code-mode-server.ts";

let server: CodeModeServer;
beforeAll(async () => {
  server = await startCodeModeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const carriers = [
  { protocol: "grpc", httpVersion: "2" },
  { protocol: "grpc-web", httpVersion: "2" },
  { protocol: "grpc-web", httpVersion: "1.1" },
  { protocol: "connect", httpVersion: "2" },
  { protocol: "connect", httpVersion: "1.1" },
] as const;

describe.each(carriers)("the code-mode client over $protocol, HTTP/$httpVersion", (carrier) => {
  let transport: NodeTransport;
  beforeAll(() => {
    transport = createNodeTransport({ baseUrl: server.url, ...carrier });
  });
  afterAll(async () => {
    await transport[Symbol.asyncDispose]();
  });

  it("serves tools, hears notifications and sees the end of its cells", async () => {
    const heard: string[] = [];
    await using session = await CodeModeSession.open(transport, {
      onNotification: ({ text }) => void heard.push(text),
      onCellClosed: (cellId) => heard.push(`closed ${cellId}`),
    });
    await session.serveTools({
      add: { description: "Adds.", run: (input) => (input as number[]).reduce((sum, one) => sum + one, 0) },
      fail: () => {
        throw new Error("no luck");
      },
    });
    const outcome = await session.execute(`
      notify("on it");
      text(await tools.add([1, 2, 3]));
      try { await tools.fail() } catch (reason) { text(reason) }
      text(ALL_TOOLS.map(({ name }) => name).join());
    `);
    expect(outcome).toMatchObject({
      state: "completed",
      items: [{ text: "6" }, { text: "no luck" }, { text: "add,fail" }],
    });
    expect(heard).toEqual(["on it", "closed 1"]);
  });

  it("follows a program that yields until it ends", async () => {
    await using session = await CodeModeSession.open(transport);
    const texts: unknown[] = [];
    const source =
      "for (let i = 0; i < 3; i++) { text(i); yield_control(); await new Promise((r) => setTimeout(r, 20)) }";
    for await (const outcome of session.run(source)) texts.push(...outcome.items);
    expect(texts).toMatchObject([{ text: "0" }, { text: "1" }, { text: "2" }]);
  });

  it("terminates an endless program", async () => {
    await using session = await CodeModeSession.open(transport);
    const { cellId, state } = await session.execute("while (true) {}", { yieldTimeMs: 20 });
    expect(state).toBe("yielded");
    expect(await session.terminate(cellId)).toMatchObject({
      state: "live",
      outcome: { state: "terminated" },
    });
    expect(await session.wait(cellId)).toMatchObject({ state: "missing" });
  });

  it("aborts the handler of a cell that is terminated", async () => {
    await using session = await CodeModeSession.open(transport);
    const aborted = Promise.withResolvers<string>();
    await session.serveTools({
      slow: (_, { signal }) =>
        new Promise(() => signal.addEventListener("abort", () => aborted.resolve("aborted"))),
    });
    const { cellId } = await session.execute("await tools.slow()", { yieldTimeMs: 100 });
    await session.terminate(cellId);
    expect(await aborted.promise).toBe("aborted");
  });

  it("gives up a wait without losing output", async () => {
    await using session = await CodeModeSession.open(transport);
    const { cellId } = await session.execute("await new Promise((r) => setTimeout(r, 150)); text('late')", {
      yieldTimeMs: 0,
    });
    await expect(session.wait(cellId, { signal: AbortSignal.timeout(20) })).rejects.toThrow();
    expect((await session.wait(cellId)).outcome.items).toMatchObject([{ text: "late" }]);
  });

  it("ends a cell whose execute is given up", async () => {
    const controller = new AbortController();
    const closed = Promise.withResolvers<string>();
    await using session = await CodeModeSession.open(transport, {
      // By now the program runs, and the client has been told so or will be in a moment.
      onNotification: () => void setTimeout(() => controller.abort(), 100),
      onCellClosed: closed.resolve,
    });
    const { signal } = controller;
    const execution = session.execute("notify('here'); await new Promise(() => {})", { signal });
    await expect(execution).rejects.toThrow();
    expect(await closed.promise).toBe("1");
  });

  it("learns that the session is over when the host closes it", async () => {
    const session = await CodeModeSession.open(transport);
    const other = await CodeModeSession.open(transport);
    const execution = session.execute("await new Promise(() => {})");
    const failure = expect(execution).rejects.toSatisfy((error) => SessionClosedError.isInstance(error));
    await other.execute("text(1)");
    await session.close();
    await failure;
    await expect(other.execute("text(2)")).resolves.toMatchObject({ state: "completed" });
    await other.close();
  });

  it("carries the work of an agent from its model's text to the result", async () => {
    const client = new CodeModeClient(transport);
    const events: string[] = [];
    await using session = client.createSession({
      invokeTool: ({ name, input }, { cellId }) => `${name} ${JSON.stringify(input)} in ${cellId}`,
      notify: ({ cellId, text }) => void events.push(`${cellId} says ${text}`),
      cellClosed: (cellId) => events.push(`closed ${cellId}`),
    });
    const { nestedTools } = renderTools({ tools: [{ name: "look-up", description: "Looks up." }] });
    const { code, ...options } = parseExecSource(
      `// @exec: {"yield_time_ms": 5000}\nnotify("hi"); text(await tools.look_up({ a: 1 })); text(ALL_TOOLS[0].description.split("\\n")[0]); fail()`,
    );
    const { cellId, initialResponse } = await session.execute(code, { ...options, tools: nestedTools });
    expect(cellId).toBe("1");
    const { items, isSuccess } = presentOutcome(await initialResponse, { wallTimeMs: 1000 });
    expect(isSuccess).toBe(false);
    expect(items).toMatchObject([
      { text: "Script failed\nWall time 1.0 seconds\nOutput:\n" },
      { text: 'look-up {"a":1} in 1' },
      { text: "Looks up." },
      { text: expect.stringMatching(/^Script error:\nReferenceError: fail is not defined/) },
    ]);
    expect(events).toEqual(["1 says hi", "closed 1"]);
  });

  it("ends a look early without ending the program", async () => {
    await using session = await CodeModeSession.open(transport);
    const started = Promise.withResolvers<string>();
    const source = "text(1); await new Promise((r) => setTimeout(r, 300)); text(2)";
    const execution = session.execute(source, { onStarted: started.resolve });
    const cellId = await started.promise;
    await session.yieldObservation(cellId);
    const { state } = await execution;
    expect(state).toBe("yielded");
    expect((await session.wait(cellId)).outcome.state).toBe("completed");
  });
});

describe("a host that is lost in the middle of a program", () => {
  it("is followed by another, with cells of the next generation", async () => {
    await using transport = createNodeTransport({ baseUrl: server.url });
    const own = await startCodeModeServer();
    let baseUrl = own.url;
    const closed: string[] = [];
    const switching: Transport = {
      unary: (...call) => (baseUrl === own.url ? ownTransport : transport).unary(...call),
      stream: (...call) => (baseUrl === own.url ? ownTransport : transport).stream(...call),
    };
    await using ownTransport = createNodeTransport({ baseUrl: own.url });
    await using session = new CodeModeClient(switching).createSession({
      invokeTool: () => null,
      cellClosed: (cellId) => closed.push(cellId),
    });
    const { cellId, initialResponse } = await session.execute("await new Promise(() => {})", {
      yieldTimeMs: 0,
    });
    expect((await initialResponse).state).toBe("yielded");
    baseUrl = server.url;
    await own[Symbol.asyncDispose]();
    await expect.poll(() => closed).toEqual([cellId]);
    const next = await session.execute("text('again')");
    expect(next.cellId).toBe("g2:1");
    expect((await next.initialResponse).items).toMatchObject([{ text: "again" }]);
    await expect(session.terminate(cellId)).rejects.toSatisfy((error) =>
      StaleGenerationError.isInstance(error),
    );
    expect(closed).toEqual(["1", "g2:1"]);
  });
});
