import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createCellEngine } from "./create-cell-engine.ts";
import { runCell, startCell } from "./testing/run-cell.ts";
import { isAlive, workerPids } from "./testing/worker-processes.ts";

const mebibyte = 1024 * 1024;

describe("worker processes", () => {
  it("end with the engine", async () => {
    const engine = createCellEngine();
    const cell = startCell(engine, { source: "for (;;);" });
    await cell.ready;
    const pids = workerPids();
    expect(pids).toHaveLength(1);
    await engine[Symbol.asyncDispose]();
    expect((await cell.done).end.type).toBe("lost");
    expect(pids.filter(isAlive)).toEqual([]);
    expect(() => engine.start({ sessionKey: "s", source: "", tools: [], stored: new Map() }, never)).toThrow(
      expect.objectContaining({ kind: "unavailable" }),
    );
  });

  it("end within 2 s when the server is killed", async () => {
    const host = spawn(
      process.execPath,
      ["--conditions=@trivium/source", fileURLToPath(new URL("./testing/spinning-host.ts", import.meta.url))],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    try {
      await once(host.stdout, "data");
      const pids = workerPids(host.pid);
      expect(pids.length).toBeGreaterThan(0);
      host.kill("SIGKILL");
      const deadlineMs = performance.now() + 2_000;
      while (pids.some(isAlive)) {
        expect(performance.now()).toBeLessThan(deadlineMs);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    } finally {
      host.kill("SIGKILL");
    }
  });

  it("are replaced when one is lost, and its session goes on elsewhere", async () => {
    await using engine = createCellEngine({ maxWorkers: 1 });
    const cell = startCell(engine, { source: "await new Promise(() => {})" });
    await cell.ready;
    const [pid = 0] = workerPids();
    process.kill(pid, "SIGKILL");
    expect((await cell.done).end).toEqual({ type: "lost", errorText: "exec runtime lost" });
    expect((await runCell(engine, { source: "text('on')" })).texts).toEqual(["on"]);
    expect(engine.stats()).toEqual({ workers: 1, liveCells: 0, workerRestarts: 1 });
  });

  it("are one per session when dedicated", async () => {
    await using engine = createCellEngine({ isolation: "dedicated" });
    const cells = ["a", "b"].map((sessionKey) =>
      startCell(engine, { source: "await new Promise(() => {})", sessionKey }),
    );
    await Promise.all(cells.map(({ ready }) => ready));
    const before = workerPids();
    // Two for the sessions, one for the next.
    expect(before).toHaveLength(3);
    cells[0]?.cell.terminate();
    await cells[0]?.done;
    engine.releaseSession("a");
    await expect.poll(() => workerPids().length).toBe(2);
    expect((await runCell(engine, { source: "text('b')", sessionKey: "b" })).texts).toEqual(["b"]);
  });

  it("run with a lower priority, no environment and no files, descriptors or network", async () => {
    await using engine = createCellEngine();
    await runCell(engine, { source: "" });
    const [pid = 0] = workerPids();
    const niceness = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
    expect(new Set(niceness)).toEqual(new Set([10]));
  });

  it("are killed for memory that V8 does not count, and the others go on", async () => {
    await using engine = createCellEngine({
      memoryHeadroomBytes: 200 * mebibyte,
      maxWorkerMemoryBytes: 250 * mebibyte,
    });
    const witness = startCell(
      engine,
      { source: "await tools.hold(); text('alive')", tools: [hold], sessionKey: "witness" },
      () => {},
    );
    await witness.ready;
    const source = `const a = []; for (;;) { const b = new ArrayBuffer(1, { maxByteLength: 2 ** 30 }); b.resize(2 ** 26); new Uint8Array(b).fill(1); a.push(b) }`;
    const { end } = await runCell(engine, { source, sessionKey: "bomb" });
    expect(end).toEqual({ type: "lost", errorText: "exec runtime out of memory" });
    witness.cell.resolveTool("tool-1", "null");
    expect((await witness.done).texts).toEqual(["alive"]);
  });

  it("are taken out of use and killed when a thread does not come back", async () => {
    await using engine = createCellEngine({ maxWorkers: 1 });
    const cell = startCell(engine, { source: "new Array(1e8).fill(0)" });
    await cell.ready;
    const [pid = 0] = workerPids();
    cell.cell.terminate();
    expect((await cell.done).end).toEqual({ type: "terminated" });
    expect((await runCell(engine, { source: "text('on')" })).texts).toEqual(["on"]);
    await expect.poll(() => isAlive(pid), { timeout: 4_000 }).toBe(false);
    expect(engine.stats().workerRestarts).toBe(1);
  });
});

describe("limits", () => {
  it("refuse more live cells than allowed", async () => {
    await using engine = createCellEngine({ maxLiveCells: 1 });
    const cell = startCell(engine, { source: "await new Promise(() => {})" });
    expect(() => startCell(engine, { source: "" })).toThrow(
      expect.objectContaining({ kind: "resourceExhausted", message: expect.stringContaining("1 cells") }),
    );
    cell.cell.terminate();
    await cell.done;
    expect((await runCell(engine, { source: "text('on')" })).texts).toEqual(["on"]);
  });
});

const hold = {
  name: "hold",
  toolName: "hold",
  namespace: undefined,
  description: "",
  kind: "function",
} as const;

const never = {
  ready() {},
  output() {},
  yieldRequested() {},
  stored() {},
  notified() {},
  toolCalled() {},
  ended() {},
};
