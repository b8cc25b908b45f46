import { createContext, runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CellEngine } from "./cell-engine.ts";
import { createCellEngine } from "./create-cell-engine.ts";
import { bombProbes } from "./escape-probes/bomb-probes.ts";
import { constructorProbes } from "./escape-probes/constructor-probes.ts";
import { conversionProbes } from "./escape-probes/conversion-probes.ts";
import { type EscapeProbe, probePrelude } from "./escape-probes/escape-probe.ts";
import { memoryProbes } from "./escape-probes/memory-probes.ts";
import { moduleProbes } from "./escape-probes/module-probes.ts";
import { prototypeProbes } from "./escape-probes/prototype-probes.ts";
import { proxyProbes } from "./escape-probes/proxy-probes.ts";
import { stackProbes } from "./escape-probes/stack-probes.ts";
import { type CellRecord, type RecordedCell, runCell, startCell, tool } from "./testing/run-cell.ts";

const themes: readonly (readonly [string, readonly EscapeProbe[]])[] = [
  ["constructors", constructorProbes],
  ["stacks", stackProbes],
  ["proxies and thenables", proxyProbes],
  ["conversions", conversionProbes],
  ["prototypes", prototypeProbes],
  ["modules and globals", moduleProbes],
  ["memory", memoryProbes],
  ["bombs", bombProbes],
];

/** What a cell in a clean realm says of itself. */
const selfPortrait = `const names = (o) => Reflect.ownKeys(o).map(String).sort().join();
text([globalThis, Object, Object.prototype, Function.prototype, Array.prototype, Promise.prototype, Error, JSON, Date].map(names).join(";"));
text([typeof globalThis.left, typeof globalThis.late, load("secret"), typeof Error.prepareStackTrace].join());
text(JSON.stringify({ a: [1] })); text(await tools.echo({ b: 2 })); text(Object.isFrozen(Object.prototype)); text(Date.now() > 0)`;

const tools = [tool("echo")];
let engine: CellEngine;
let victim: RecordedCell;
let clean: CellRecord;
let release: (() => void) | undefined;

beforeAll(async () => {
  // One worker: the probes share a process with the session whose data they must not see.
  engine = createCellEngine({ maxWorkers: 1 });
  clean = await runCell(engine, { source: selfPortrait, tools, sessionKey: "clean" });
  const source = `globalThis.secret = "victim's"; store("secret", "victim's"); text("here"); await tools.echo(); text(globalThis.secret + load("secret"))`;
  victim = startCell(engine, { source, tools, sessionKey: "victim" }, (call, cell) => {
    release = () => cell.resolveTool(call.toolCallId, "null");
  });
  await victim.outputs(1);
});

afterAll(() => engine[Symbol.asyncDispose]());

async function attempt(probe: EscapeProbe, sessionKey: string): Promise<CellRecord> {
  const source = `${probePrelude} ${probe.source}`;
  const attempt = startCell(engine, { source, tools, sessionKey });
  if (probe.ends === "endless") {
    await attempt.outputs(1);
    attempt.cell.terminate();
  }
  return await attempt.done;
}

describe.each(themes)("a program that tries %s", (theme, probes) => {
  it.each(probes.map((probe) => [probe.tries, probe] as const))("%s", async (tries, probe) => {
    const sessionKey = `${theme}: ${tries}`;
    const { texts, end } = await attempt(probe, sessionKey);
    expect(texts).toEqual(probe.sees);
    const { ends = "completed", error = "" } = probe;
    if (ends === "endless") expect(end).toEqual({ type: "terminated" });
    else if (ends === "completed") expect(end).toEqual({ type: "completed", errorText: undefined });
    else
      expect(end).toEqual({ type: "completed", errorText: expect.stringMatching(new RegExp(`^${error}`)) });
    const next = await runCell(engine, { source: selfPortrait, tools, sessionKey });
    expect(next.texts).toEqual(clean.texts);
    expect(engine.stats()).toMatchObject({ workers: 1, workerRestarts: 0 });
  });
});

it("the judge of the attempts tells the host and another realm from its own", () => {
  const judge = (value: object): unknown => runInNewContext(`${probePrelude} leads(value)`, { value });
  expect(judge({})).toBe("the host");
  expect(judge([() => 1].map((one) => one))).toBe("the host");
  expect(judge(createContext({}))).toBe("the host");
  expect(judge(runInNewContext("({})") as object)).toBe("another realm");
  expect(runInNewContext(`${probePrelude} leads([() => 1])`)).toBe("own");
});

it("there are at least sixty attempts, each of another kind", () => {
  const all = themes.flatMap(([, probes]) => probes.map(({ tries }) => tries));
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(60);
});

it("a cell of another session has lived beside all of them with its own data", async () => {
  release?.();
  const { texts, end } = await victim.done;
  expect(texts).toEqual(["here", "victim'svictim's"]);
  expect(end).toEqual({ type: "completed", errorText: undefined });
});
