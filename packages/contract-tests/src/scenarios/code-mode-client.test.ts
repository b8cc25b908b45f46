import type { Transport } from "@connectrpc/connect";
import {
  CellBusyError,
  CodeModeClient,
  CodeModeSession,
  parseExecSource,
  presentOutcome,
  SessionClosedError,
  StaleGenerationError,
} from "@trivium/code-mode-client";
import { linkSignals } from "@trivium/core";
import { expect } from "vitest";
import { useServer, verifies } from "../verifies.ts";

useServer();

/** How long a busy machine may take to tell what has happened. */
const patience = { timeout: 15_000 };
const forEver = "await new Promise(() => {})";

/** A transport whose streams can be cut, as by the loss of a connection. */
function cuttable(transport: Transport): { transport: Transport; cut: () => void } {
  let connection = new AbortController();
  return {
    transport: {
      unary: (...call) => transport.unary(...call),
      stream: (method, signal, ...call) => {
        const linked = linkSignals([signal, connection.signal]);
        return transport.stream(method, linked.signal, ...call);
      },
    },
    cut: () => {
      connection.abort(new Error("the connection was lost"));
      connection = new AbortController();
    },
  };
}

verifies("client:exec-source", async ({ transport }) => {
  await using session = await CodeModeSession.open(transport);
  const { code, ...options } = parseExecSource(`// @exec: {"yield_time_ms": 0}\n${forEver}`);
  expect((await session.execute(code, options)).state).toBe("yielded");
});

verifies("client:delegate", async ({ transport }) => {
  const calls: unknown[] = [];
  await using session = new CodeModeClient(transport).createSession({
    invokeTool({ name, input }) {
      calls.push([name, input]);
      if (name === "fail") throw new Error("no such thing");
      return { doubled: Number(input) * 2 };
    },
  });
  const source = `text((await tools.double(21)).doubled); text(await tools.fail().catch((why) => why))`;
  const { initialResponse } = await session.execute(source, {
    tools: [{ name: "double" }, { name: "fail" }],
  });
  expect((await initialResponse).items).toMatchObject([{ text: "42" }, { text: "no such thing" }]);
  expect(calls).toEqual([
    ["double", 21],
    ["fail", undefined],
  ]);
});

verifies("client:tools-of-execution", async ({ transport }) => {
  await using session = await CodeModeSession.open(transport);
  await session.serveTools({ one: () => 1, two: () => 2 });
  const source = "text([typeof tools.one, typeof tools.two].join())";
  const { items } = await session.execute(source, { tools: [{ name: "one" }] });
  expect(items).toMatchObject([{ text: "function,undefined" }]);
});

verifies("client:notifications", async ({ transport }) => {
  const told: string[] = [];
  const mayEnd = Promise.withResolvers<void>();
  await using session = await CodeModeSession.open(transport, {
    async onNotification({ text }) {
      await mayEnd.promise;
      told.push(text);
    },
  });
  const execution = session.execute('notify("said"); text("done")').then(() => told.push("completed"));
  mayEnd.resolve();
  await execution;
  expect(told).toEqual(["said", "completed"]);
});

verifies("client:dropped-execute", async ({ transport }) => {
  const closed: string[] = [];
  const isClosed = Promise.withResolvers<void>();
  await using session = await CodeModeSession.open(transport, {
    onCellClosed(cellId) {
      closed.push(cellId);
      isClosed.resolve();
    },
  });
  const controller = new AbortController();
  const onStarted = (): void => controller.abort(new Error("not wanted any more"));
  const execution = session.execute(forEver, { signal: controller.signal, onStarted });
  await expect(execution).rejects.toThrow("not wanted any more");
  await isClosed.promise;
  await expect.poll(() => session.wait("1"), patience).toMatchObject({ state: "missing" });
  expect(closed).toEqual(["1"]);
});

verifies("client:one-wait", async ({ transport }) => {
  await using session = await CodeModeSession.open(transport);
  const gate = Promise.withResolvers<void>();
  await session.serveTools({ gate: () => gate.promise });
  const { cellId } = await session.execute('await tools.gate(); text("kept")', { yieldTimeMs: 0 });
  const controller = new AbortController();
  const first = session.wait(cellId, { signal: controller.signal, yieldTimeMs: 60_000 });
  await expect(session.wait(cellId)).rejects.toSatisfy((error) => CellBusyError.isInstance(error));
  controller.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
  gate.resolve();
  const { outcome } = await session.wait(cellId, { yieldTimeMs: 60_000 });
  expect(outcome).toMatchObject({ state: "completed", items: [{ text: "kept" }] });
});

verifies("client:generations", async ({ transport }) => {
  const line = cuttable(transport);
  const closed: string[] = [];
  await using session = new CodeModeClient(line.transport).createSession({
    invokeTool: () => null,
    cellClosed: (cellId) => closed.push(cellId),
  });
  const first = await session.execute(forEver, { yieldTimeMs: 0 });
  await first.initialResponse;
  line.cut();
  await expect.poll(() => closed, patience).toEqual(["1"]);
  await expect(session.wait("1")).rejects.toSatisfy((error) => StaleGenerationError.isInstance(error));
  const next = await session.execute("text(1)");
  expect(next.cellId).toBe("g2:1");
  await expect(session.terminate("1")).rejects.toSatisfy((error) => StaleGenerationError.isInstance(error));
  expect((await next.initialResponse).items).toMatchObject([{ text: "1" }]);
  await expect.poll(() => closed, patience).toEqual(["1", "g2:1"]);
});

verifies("client:shutdown", async ({ transport }) => {
  const closed: string[] = [];
  const session = new CodeModeClient(transport).createSession({
    invokeTool: () => null,
    cellClosed: (cellId) => closed.push(cellId),
  });
  const { initialResponse } = await session.execute(forEver, { yieldTimeMs: 0 });
  await initialResponse;
  await session.shutdown();
  await expect(session.execute("")).rejects.toSatisfy((error) => SessionClosedError.isInstance(error));
  await expect.poll(() => closed, patience).toEqual(["1"]);
});

verifies("client:presentation", async ({ transport }) => {
  await using session = await CodeModeSession.open(transport);
  const shown = presentOutcome(await session.execute('text("before"); throw new Error("boom")'), {
    wallTimeMs: 1234,
  });
  expect(shown.isSuccess).toBe(false);
  const text = shown.items.map((item) => (item.type === "text" ? item.text : item.type)).join("\n");
  expect(text).toMatch(/^Script failed\nWall time 1\.2 seconds\nOutput:\n\nbefore\nScript error:\n[^]*boom/);
});
