import { readdirSync, readFileSync } from "node:fs";
import { type CellEngine, createCellEngine } from "@trivium/code-mode-runtime";
import { silentLogger } from "@trivium/core";
import type { CellEvents, CodeCellsPort } from "@trivium/crabcode-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCodeCells } from "./create-code-cells.ts";

type CellToolCall = Parameters<CellEvents["called"]>[0];

let engine: CellEngine;
let cells: CodeCellsPort & AsyncDisposable;
beforeAll(() => {
  engine = createCellEngine({ maxWorkers: 1 });
  cells = createCodeCells({ engine, maxCells: 8, logger: silentLogger });
});
afterAll(async () => {
  await cells[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});

const tools = [{ name: "Echo", description: "echoes", inputSchema: {}, outputSchema: {} }];

function open(events: Partial<CellEvents> = {}): ReturnType<CodeCellsPort["openSession"]> {
  return cells.openSession(
    { called: async () => ({ problem: "no" }), notified: () => {}, ...events },
    { heapBytes: 64 * 1024 * 1024 },
  );
}

const budget = { maxOutputTokens: 10_000 };

describe("the cells of conversations", () => {
  it("hand calls over in their order, and bring values and texts back", async () => {
    const calls: Omit<CellToolCall, "signal">[] = [];
    await using session = open({
      called: async ({ cellId, toolCallId, name, input }) => {
        calls.push({ cellId, toolCallId, name, input });
        return input === undefined ? { problem: "nothing to echo" } : { value: { echoed: input } };
      },
    });
    const code = `const [a, b] = await Promise.allSettled([tools.Echo({ x: "é" }), tools.Echo()]);
      text(a.value); text(b.reason); text(ALL_TOOLS); text(typeof tools.Echo);`;
    const { cellId, observation } = session.start({ code, tools, ...budget });
    const { state, items } = await observation;
    expect(state).toBe("completed");
    expect(items.map((item) => item.type === "text" && item.text)).toEqual([
      '{"echoed":{"x":"é"}}',
      "nothing to echo",
      '[{"name":"Echo","description":"echoes"}]',
      "function",
    ]);
    expect(calls).toEqual([
      { cellId, toolCallId: "tool-1", name: "Echo", input: { x: "é" } },
      { cellId, toolCallId: "tool-2", name: "Echo", input: undefined },
    ]);
  });

  it("go on after a look was ended, notify, and keep values for the next program", async () => {
    const notified = Promise.withResolvers<string>();
    const answer = Promise.withResolvers<{ value: unknown }>();
    await using session = open({
      called: () => answer.promise,
      notified: (cellId, text) => notified.resolve(`${cellId}:${text}`),
    });
    const code = 'text("first"); notify("here"); store("k", await tools.Echo(1)); text("last");';
    const look = session.start({ code, tools, ...budget });
    expect(await notified.promise).toBe(`${look.cellId}:here`);
    look.end();
    expect(await look.observation).toMatchObject({ state: "running", items: [{ text: "first" }] });
    const next = session.look(look.cellId, budget);
    answer.resolve({ value: [7] });
    expect(await next.observation).toMatchObject({ state: "completed", items: [{ text: "last" }] });
    const second = session.start({ code: 'text(load("k"))', tools, ...budget });
    expect(await second.observation).toMatchObject({ items: [{ text: "[7]" }] });
  });

  it("fail with the error as the last of their output, and miss what is not there", async () => {
    await using session = open();
    const { observation } = session.start({ code: 'text("a"); missing;', tools, ...budget });
    expect(await observation).toMatchObject({
      state: "failed",
      items: [{ text: "a" }, { text: expect.stringMatching(/^Script error:\nReferenceError: missing/) }],
    });
    expect(await session.look("9", budget).observation).toMatchObject({
      state: "failed",
      items: [{ text: "Script error:\nexec cell 9 not found" }],
    });
  });

  it.each(["terminate", "close"])("abort their calls on %s", async (how) => {
    const called = Promise.withResolvers<AbortSignal>();
    await using session = open({
      called: ({ signal }) => {
        called.resolve(signal);
        return new Promise(() => {});
      },
    });
    const { cellId, observation } = session.start({ code: "await tools.Echo({})", tools, ...budget });
    const signal = await called.promise;
    if (how === "terminate") {
      expect(await session.terminate(cellId, budget)).toMatchObject({ state: "terminated" });
      expect(await observation).toMatchObject({ state: "terminated" });
    } else {
      const ended = expect(observation).rejects.toThrow("has ended");
      await session[Symbol.asyncDispose]();
      await ended;
    }
    expect(signal.aborted).toBe(true);
  });

  it("hear of a call that went wrong", async () => {
    await using session = open({
      called: () => Promise.reject(new Error("out of order")),
    });
    const code = "text(await tools.Echo({}).catch((text) => text))";
    const { observation } = session.start({ code, tools, ...budget });
    expect(await observation).toMatchObject({
      state: "completed",
      items: [{ type: "text", text: "Error: out of order" }],
    });
  });

  it("tell a dead worker apart from a failed program", async () => {
    const called = Promise.withResolvers<AbortSignal>();
    await using session = open({
      called: ({ signal }) => {
        called.resolve(signal);
        return new Promise(() => {});
      },
    });
    const { observation } = session.start({ code: "await tools.Echo({})", tools, ...budget });
    const signal = await called.promise;
    for (const pid of workerPids()) process.kill(pid, "SIGKILL");
    expect(await observation).toMatchObject({ state: "lost" });
    expect(signal.aborted).toBe(true);
  });

  it("read the options of a program's first line", () => {
    expect(cells.readSource('// @exec: {"yield_time_ms": 5}\ntext(1)')).toEqual({
      code: "text(1)",
      yieldTimeMs: 5,
    });
    expect(() => cells.readSource("// @exec: {}")).toThrow("no source");
  });
});

/** Child processes of this one that run cells. */
function workerPids(): number[] {
  const threads = readdirSync(`/proc/${process.pid}/task`);
  const children = threads.map((id) => readFileSync(`/proc/${process.pid}/task/${id}/children`, "utf8"));
  const pids = children.join(" ").split(" ").filter(Boolean).map(Number);
  return pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("cell-worker"));
}
