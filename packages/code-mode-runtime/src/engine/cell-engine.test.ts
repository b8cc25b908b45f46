import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CellEngine } from "./cell-engine.ts";
import { createCellEngine } from "./create-cell-engine.ts";
import { runCell, startCell, tool } from "./testing/run-cell.ts";

let engine: CellEngine;
beforeAll(() => {
  engine = createCellEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

/** Runs a program without errors and returns its texts. */
async function texts(source: string, more: { stored?: Map<string, string>; tools?: string[] } = {}) {
  const { stored = new Map<string, string>(), tools = [] } = more;
  const record = await runCell(engine, { source, stored, tools: tools.map(tool) });
  expect(record.end).toEqual({ type: "completed", errorText: undefined });
  return record.texts;
}

async function errorText(source: string, tools: string[] = []) {
  const { end } = await runCell(engine, { source, tools: tools.map(tool) });
  expect(end.type).toBe("completed");
  return end.type === "completed" ? end.errorText : undefined;
}

describe("the life of a cell", () => {
  it("tells ready first, then what the program does in its order, then the end", async () => {
    const source = `text("a"); store("k", 1); notify("n"); yield_control(); text("b"); await tools.t({ x: 1 }); text("c")`;
    const { events } = await runCell(engine, { source, tools: [tool("t")] });
    expect(events).toEqual([
      "ready",
      "text a",
      "store k 1",
      "notify n",
      "yield",
      "text b",
      'tool-1 t {"x":1}',
      "text c",
      "completed",
    ]);
  });

  it("keeps the order of many outputs, some of which wait for room", async () => {
    const got = await texts("for (let i = 0; i < 1000; i++) text(i)");
    expect(got).toEqual(Array.from({ length: 1000 }, (_, index) => String(index)));
  });

  it("ends a program that does not compile without ready and on one line", async () => {
    const { events, end } = await runCell(engine, { source: 'text("a")\nlet x = ;' });
    expect(events).toEqual(["completed"]);
    expect(end).toEqual({ type: "completed", errorText: "SyntaxError: Unexpected token ';'" });
  });

  it("gives each cell of a session a fresh realm", async () => {
    await texts("globalThis.leak = 1; Array.prototype.leak = 2; JSON.stringify = () => 'x'");
    expect(await texts("text([typeof leak, typeof [].leak, JSON.stringify(1)])")).toEqual([
      '["undefined","undefined","1"]',
    ]);
  });

  it("keeps what microtasks do after the module has settled", async () => {
    expect(await texts(`Promise.resolve().then(() => text("late")); text("now")`)).toEqual(["now", "late"]);
  });

  it("runs a program too long for the main thread's compiler", async () => {
    expect(await texts(`/*${"x".repeat(200_000)}*/ text("long")`)).toEqual(["long"]);
  });

  it("runs cells of one session side by side", async () => {
    const slow = startCell(
      engine,
      { source: `await tools.hold(); text("slow")`, tools: [tool("hold")] },
      () => {},
    );
    await slow.ready;
    expect(await texts(`text("fast")`)).toEqual(["fast"]);
    slow.cell.resolveTool("tool-1", "null");
    expect((await slow.done).texts).toEqual(["slow"]);
  });
});

describe("module form", () => {
  it.each([
    ["a hashbang", `#!/usr/bin/env node\ntext("a")`, ["a"]],
    [
      "exported declarations",
      `export const a = 1; export function f() { return 2 }\ntext([a, f()])`,
      ["[1,2]"],
    ],
    ["export lists", `const a = 1; export { a, a as b }; text(a)`, ["1"]],
    ["a named default export", `text(f()); export default function f() { return "hoisted" }`, ["hoisted"]],
    ["a default value", `export default () => 1\ntext("a")`, ["a"]],
    ["the word export in a string", `text("export default import('x')")`, ["export default import('x')"]],
    ["using", `using r = { [Symbol.dispose]() { text("gone") } }; text("here")`, ["here", "gone"]],
    ["import.meta", `text(JSON.stringify(import.meta))`, ["{}"]],
  ])("allows %s", async (_name, source, expected) => {
    expect(await texts(source)).toEqual(expected);
  });

  it("reports errors of a using declaration's disposal", async () => {
    expect(await errorText(`using r = { [Symbol.dispose]() { throw "bad" } }`)).toBe("bad");
  });

  it("refuses static imports before anything runs", async () => {
    const { events, end } = await runCell(engine, { source: `text("a"); import fs from "fs"` });
    expect(events).toEqual(["completed"]);
    expect(end).toMatchObject({ errorText: "Unsupported import in exec: fs" });
  });

  it("rejects dynamic imports with a string, and keeps columns", async () => {
    const source = `try { await import("fs") } catch (e) { text(typeof e + " " + e) }\nawait import("x").catch(() => 0); null.f`;
    const { texts: got, end } = await runCell(engine, { source });
    expect(got).toEqual(["string unsupported import in exec"]);
    expect(end).toMatchObject({
      errorText: "TypeError: Cannot read properties of null (reading 'f')\n    at exec_main.mjs:2:40",
    });
  });
});

describe("errors", () => {
  it("shows frames of the program only, also for what a conversion raises", async () => {
    expect(await errorText("\n  text({ a: 1n })")).toBe(
      "TypeError: Do not know how to serialize a BigInt\n    at exec_main.mjs:2:3",
    );
    expect(await errorText("store('k', { toJSON() { throw new Error('tj') } })")).toBe(
      "Error: tj\n    at Object.toJSON (exec_main.mjs:1:31)\n    at exec_main.mjs:1:1",
    );
  });

  it("shows no frame of a helper that has run often", async () => {
    await texts("for (let i = 0; i < 2000; i++) text(i)");
    for (let round = 0; round < 2; round++) {
      expect(await errorText("\n  text({ a: 1n })")).toBe(
        "TypeError: Do not know how to serialize a BigInt\n    at exec_main.mjs:2:3",
      );
      await texts("for (let i = 0; i < 4000; i++) try { text({ a: 1n }) } catch {}");
    }
  });

  it.each([
    ["throw {a: 1}", "[object Object]"],
    ["throw {stack: ''}", ""],
    ["throw Symbol('s')", ""],
    ["throw {get stack() { throw 1 }, toString() { return 'ts' }}", "ts"],
    ["throw null", "null"],
    ["setTimeout(() => { throw 'late' }, 1); await new Promise(() => {})", "late"],
  ])("reads %s as its error text", async (source, expected) => {
    expect(await errorText(source)).toBe(expected);
  });

  it("ignores rejections that nobody awaits", async () => {
    expect(
      await texts("Promise.reject(new Error('x')); await tools.t(); text('ok')", { tools: ["t"] }),
    ).toEqual(["ok"]);
  });
});

describe("helpers", () => {
  it("stores and loads copies", async () => {
    const stored = new Map([["old", '{"a":1}']]);
    const source = `text(load("old")); text(String(load("none"))); const o = { n: 1 }; store("new", o); o.n = 2; text(load("new"))`;
    expect(await texts(source, { stored })).toEqual(['{"a":1}', "undefined", '{"n":1}']);
  });

  it("store up to 64 MiB with what the session has, and refuse more with a text", async () => {
    const stored = new Map([
      ["old", `"${"x".repeat(40 * 2 ** 20)}"`],
      ["é", "1"],
    ]);
    const source = `const s = "y".repeat(40 * 2 ** 20);
      try { store("new", s) } catch (e) { text(typeof e + " " + e) }
      text(String(load("new"))); store("old", s); store("old", s); text(load("old")[0]);
      store("é", "é".repeat(11 * 2 ** 20)); try { store("é", "é".repeat(12 * 2 ** 20)) } catch { text("full") }
      store("old", 1); store("new", s); text(load("é").length)`;
    const { texts: got, events, end } = await runCell(engine, { source, stored });
    expect(end).toEqual({ type: "completed", errorText: undefined });
    expect(got).toEqual([
      'string store has no room for the key "new": stored values take at most 67108864 bytes',
      "undefined",
      "y",
      "full",
      String(11 * 2 ** 20),
    ]);
    const writes = events
      .filter((event) => event.startsWith("store "))
      .map((event) => event.split(" ", 2)[1]);
    expect(writes).toEqual(["old", "old", "é", "old", "new"]);
  });

  it("keep the order of stores among other actions", async () => {
    const source = `for (let i = 0; i < 100; i++) { text(i); store("k", i); notify("n" + i) }`;
    const { events } = await runCell(engine, { source });
    const expected = Array.from({ length: 100 }, (_, i) => [`text ${i}`, `store k ${i}`, `notify n${i}`]);
    expect(events).toEqual(["ready", ...expected.flat(), "completed"]);
  });

  it("checks images and keeps their detail", async () => {
    const source = `image("data:,a"); image({ image_url: "data:,b", detail: "LOW" }); image({ type: "image", data: "QQ", mimeType: "image/png" }, "auto"); audio("data:,c")`;
    const { outputs } = await runCell(engine, { source });
    expect(outputs).toEqual([
      { type: "image", url: "data:,a", detail: "high" },
      { type: "image", url: "data:,b", detail: "low" },
      { type: "image", url: "data:image/png;base64,QQ", detail: "auto" },
      { type: "audio", url: "data:,c" },
    ]);
  });

  it("gives settled results in the order in which they come", async () => {
    const source = `for await (const r of as_settled([new Promise((r) => setTimeout(r, 20, 0)), Promise.reject("no"), 5])) text(r)`;
    expect(await texts(source)).toEqual([
      '{"index":1,"status":"rejected","reason":"no"}',
      '{"index":2,"status":"fulfilled","value":5}',
      '{"index":0,"status":"fulfilled"}',
    ]);
  });

  it("exits at once and successfully, past every handler", async () => {
    const source = `try { text("a"); exit() } catch { text("caught") } finally { text("finally") } text("b")`;
    expect(await texts(source)).toEqual(["a"]);
  });

  it("fires timers by their delay and clears them", async () => {
    const source = `const id = setTimeout(() => text("never"), 5); clearTimeout(id); setTimeout(() => text("2"), 20); setTimeout(() => text("1"), 1); setTimeout(() => text("far"), 1e12); await new Promise((r) => setTimeout(r, 30)); text("3")`;
    expect(await texts(source)).toEqual(["1", "2", "3"]);
  });

  it("asks the script's own BigInt.prototype for toJSON", async () => {
    expect(
      await texts(`BigInt.prototype.toJSON = function () { return this + "n" }; text({ a: 1n })`),
    ).toEqual(['{"a":"1n"}']);
    expect(await errorText("text({ a: 1n })")).toMatch(/^TypeError/);
  });
});

describe("tools", () => {
  it("answers a hundred calls in turn", async () => {
    const source = `let sum = 0; for (let i = 0; i < 100; i++) sum += await tools.echo(i); text(sum)`;
    expect(await texts(source, { tools: ["echo"] })).toEqual(["4950"]);
  });

  it("rejects with a string", async () => {
    const source = `try { await tools.t() } catch (e) { text(typeof e); text(e) }`;
    const { texts: got } = await runCell(engine, { source, tools: [tool("t")] }, ({ toolCallId }, cell) =>
      cell.rejectTool(toolCallId, "nope"),
    );
    expect(got).toEqual(["string", "nope"]);
  });

  it("sends no input for none, and refuses what has no JSON form", async () => {
    const { events } = await runCell(engine, { source: "await tools.t()", tools: [tool("t")] });
    expect(events).toContain("tool-1 t (none)");
    expect(await errorText("tools.t(() => 1)", ["t"])).toMatch(/serialized/);
    expect(await errorText("let v = 1; for (let i = 0; i < 128; i++) v = [v]; tools.t(v)", ["t"])).toMatch(
      /nested/,
    );
    expect(await errorText(`tools.t("\\ud800")`, ["t"])).toMatch(/surrogate/);
  });

  it("names them as properties, the last of equal names wins", async () => {
    const source = `text(Object.keys(tools)); text(ALL_TOOLS); await tools.a_b(); text(typeof tools.__proto__)`;
    const tools = ["a-b", "__proto__", "a.b"].map(tool);
    const { texts: got, events } = await runCell(engine, { source, tools });
    expect(got[0]).toBe('["a_b","__proto__"]');
    expect(got[1]).toBe(
      JSON.stringify(
        ["a_b", "__proto__", "a_b"].map((name, index) => ({
          name,
          description: `about ${tools[index]?.name}`,
        })),
      ),
    );
    expect(events).toContain("tool-1 a.b (none)");
    expect(got[2]).toBe("function");
  });
});
