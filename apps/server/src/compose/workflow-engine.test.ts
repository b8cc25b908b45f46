import { type CellEngine, createCellEngine, createCodeModeRuntime } from "@trivium/code-mode-runtime";
import { randomIds, silentLogger, systemClock } from "@trivium/core";
import type { WorkflowEngine } from "@trivium/grok-tools-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkflowEngine } from "./workflow-engine.ts";

let cells: CellEngine;
let codeMode: ReturnType<typeof createCodeModeRuntime>;
let engine: WorkflowEngine;
beforeAll(() => {
  cells = createCellEngine();
  codeMode = createCodeModeRuntime({
    engine: cells,
    clock: systemClock,
    ids: randomIds,
    logger: silentLogger,
  });
  engine = createWorkflowEngine(codeMode);
});
afterAll(async () => {
  await codeMode[Symbol.asyncDispose]();
  await cells[Symbol.asyncDispose]();
});

type Program = Parameters<WorkflowEngine["run"]>[0];

function run(source: string, program: Partial<Program> = {}): ReturnType<WorkflowEngine["run"]> {
  return engine.run({
    source,
    args: null,
    signal: new AbortController().signal,
    agent: ({ prompt, options }) => Promise.resolve(`agent ${JSON.stringify([prompt, options])}`),
    parallel: ({ items }) => Promise.resolve([items]),
    ...program,
  });
}

describe("the workflow engine over code mode", () => {
  it("runs a program with its two functions, its arguments and its output", async () => {
    const source = `text(await agent("a", { type: "x" }));
      const [one, many] = await Promise.all([agent("b"), parallel(["c"])]);
      text(one); text(many); text(args.list.length);`;
    expect(await run(source, { args: { list: [1, 2], quote: "\"'\u2028\\" } })).toEqual({
      output: 'agent ["a",{"type":"x"}]\nagent ["b",null]\n[["c"]]\n2',
      errorText: undefined,
    });
    expect(codeMode.stats()).toMatchObject({ sessions: 0, openCells: 0 });
  });

  it("goes on after the program has given up control", async () => {
    expect(await run(`text("a"); yield_control(); text(await agent("b"))`)).toMatchObject({
      output: 'a\nagent ["b",null]',
    });
  });

  it("throws the failure of a call inside the program", async () => {
    const agent = (): Promise<never> => Promise.reject(new Error("no luck"));
    const source = `try { await agent("a") } catch (error) { text([error instanceof Error, error.message]) }`;
    expect(await run(source, { agent })).toMatchObject({ output: '[true,"no luck"]' });
    expect((await run(`await agent("a")`, { agent })).errorText).toContain("no luck");
  });

  it("says what is wrong with a program", async () => {
    expect((await run("let = ;")).errorText).toContain("SyntaxError");
    expect((await run("text('x'); nothing.there")).errorText).toContain("ReferenceError");
  });

  it.each(["for (;;);", `await agent("never")`])("ends %s with its signal", async (source) => {
    const controller = new AbortController();
    const running = run(source, {
      signal: controller.signal,
      agent: () => new Promise(() => {}),
    });
    await expect.poll(() => codeMode.stats().openCells).toBe(1);
    controller.abort(new Error("gone"));
    await expect(running).rejects.toThrow("gone");
    expect(codeMode.stats()).toMatchObject({ sessions: 0, openCells: 0 });
  });

  it("does not begin with a signal that has aborted", async () => {
    await expect(run("1", { signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow("gone");
  });

  it("keeps the program away from the tools of the server", async () => {
    expect(await run("text(Object.keys(tools))")).toMatchObject({ output: '["agent","parallel"]' });
  });
});
