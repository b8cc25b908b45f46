import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
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
    const { host, stdout } = spawnHost(spinningHost);
    try {
      await once(stdout, "data");
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

  it("end within 2 s when the server is killed, even at a standstill", async () => {
    const { host, stdout } = spawnHost(spinningHost);
    try {
      await once(stdout, "data");
      const pids = workerPids(host.pid);
      // A stopped process does nothing any more, like one whose main thread waits for ever.
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      host.kill("SIGKILL");
      const deadlineMs = performance.now() + 2_000;
      while (pids.some(isAlive)) {
        expect(performance.now()).toBeLessThan(deadlineMs);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    } finally {
      for (const pid of workerPids(host.pid)) process.kill(pid, "SIGKILL");
      host.kill("SIGKILL");
    }
  });

  it("that no longer answer are killed, and their sessions go on elsewhere", async () => {
    const clock = new ManualClock();
    await using engine = createCellEngine({ maxWorkers: 1, clock });
    const cell = startCell(engine, { source: "await new Promise(() => {})" });
    await cell.ready;
    const [pid = 0] = workerPids();
    process.kill(pid, "SIGSTOP");
    for (let second = 0; second < 7; second++) await clock.advance(1000);
    expect((await cell.done).end).toEqual({ type: "lost", errorText: "exec runtime lost" });
    expect((await runCell(engine, { source: "text('on')" })).texts).toEqual(["on"]);
    expect(engine.stats().workerRestarts).toBe(1);
  });

  it("that cannot be started for want of descriptors make a start unavailable, for as long as that lasts", async () => {
    const host = spawn(
      "/bin/sh",
      ["-c", 'ulimit -n 80; exec "$@"', "sh", process.execPath, sourceFlag, fileURLToPath(fullHost)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const lines = await text(host.stdout);
    expect(lines.split("\n")).toEqual(["EMFILE", "unavailable", "0", "on", ""]);
    expect(host.exitCode ?? (await once(host, "exit"))[0]).toBe(0);
  });

  it("have no descriptors of those that started the server", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "left-open");
    writeFileSync(file, "");
    const descriptor = openSync(file, "r");
    // Node itself sees to those that follow on its own without a gap.
    const gap = Array.from({ length: 17 }, () => "ignore" as const);
    const { host, stdout } = spawnHost(spinningHost, [...gap, descriptor]);
    closeSync(descriptor);
    try {
      await once(stdout, "data");
      const openFiles = (pid: number) =>
        readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
      expect(openFiles(host.pid ?? 0)).toContain(file);
      for (const pid of workerPids(host.pid)) expect(openFiles(pid)).not.toContain(file);
    } finally {
      host.kill("SIGKILL");
    }
  });

  it("have said their last words when they are lost", async () => {
    await using engine = createCellEngine({ maxWorkers: 1 });
    const source = "await tools.hold(); for (let i = 0; i < 30; i++) text(i); await new Promise(() => {})";
    const { done } = startCell(engine, { source, tools: [hold] }, ({ toolCallId }, cell) => {
      cell.resolveTool(toolCallId, "null");
      const [pid = 0] = workerPids();
      // The server is busy while the worker speaks and dies, so it learns of both at once.
      setImmediate(() => spawnSync("/bin/sh", ["-c", `sleep 0.3; kill -9 ${pid}`]));
    });
    const { texts, end } = await done;
    expect(texts).toHaveLength(30);
    expect(end).toEqual({ type: "lost", errorText: "exec runtime lost" });
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

  it("run with a lower priority, no environment, and no rights but to read their code", async () => {
    await using engine = createCellEngine();
    await runCell(engine, { source: "" });
    const [pid = 0] = workerPids();
    const niceness = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
    expect(new Set(niceness)).toEqual(new Set([10]));
    expect(readFileSync(`/proc/${pid}/environ`, "latin1")).toBe("");
    const flags = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
    expect(flags).toContain("--permission");
    const rights = flags.filter((flag) => flag.startsWith("--allow-")).map((flag) => flag.split("=")[0]);
    expect(new Set(rights)).toEqual(new Set(["--allow-addons", "--allow-fs-read"]));
  });

  it("show programs the locale and time zone that the configuration gives", async () => {
    await using engine = createCellEngine({ environment: { LANG: "de_DE.UTF-8", TZ: "Europe/Berlin" } });
    const source = "const o = new Intl.DateTimeFormat().resolvedOptions(); text([o.locale, o.timeZone])";
    expect((await runCell(engine, { source })).texts).toEqual(['["de-DE","Europe/Berlin"]']);
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
    // This loop of V8 itself never looks whether it is to end.
    const cell = startCell(engine, { source: "[].includes.call({ length: 2 ** 53 - 1 }, 1)" });
    await cell.ready;
    const [pid = 0] = workerPids();
    const before = cpuMsOf(pid);
    await expect.poll(() => cpuMsOf(pid), { timeout: 15_000 }).toBeGreaterThan(before + 200);
    cell.cell.terminate();
    expect((await cell.done).end).toEqual({ type: "terminated" });
    expect((await runCell(engine, { source: "text('on')" })).texts).toEqual(["on"]);
    await expect.poll(() => engine.stats().workerRestarts, { timeout: 8_000 }).toBe(1);
    expect(isAlive(pid)).toBe(false);
  });
});

describe("limits", () => {
  it("refuse a program too long for one message", async () => {
    await using engine = createCellEngine();
    const stored = new Map([["k", "1".repeat(130 * mebibyte)]]);
    expect(() => startCell(engine, { source: "", stored })).toThrow(
      expect.objectContaining({ kind: "resourceExhausted" }),
    );
    expect(engine.stats().liveCells).toBe(0);
  });

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

const sourceFlag = "--conditions=@trivium/source";

/** Time on a processor that a process has had so far. */
function cpuMsOf(pid: number): number {
  const [user = "0", system = "0"] =
    readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ").slice(11) ?? [];
  return (Number(user) + Number(system)) * 10;
}

const spinningHost = new URL("./testing/spinning-host.ts", import.meta.url);
const fullHost = new URL("./testing/full-host.ts", import.meta.url);

/** A process that hosts an engine. `descriptors` are left open in it, from 3 on. */
function spawnHost(file: URL, descriptors: readonly ("ignore" | number)[] = []) {
  const host = spawn(process.execPath, [sourceFlag, fileURLToPath(file)], {
    stdio: ["pipe", "pipe", "inherit", ...descriptors],
  });
  const { stdout } = host;
  if (stdout === null) throw new Error("the host has no output");
  return { host, stdout };
}

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
