import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CellEngine } from "./cell-engine.ts";
import { createCellEngine } from "./create-cell-engine.ts";
import { runCell, tool } from "./testing/run-cell.ts";

let engine: CellEngine;
beforeAll(() => {
  engine = createCellEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

async function texts(source: string): Promise<readonly string[]> {
  const record = await runCell(engine, { source, tools: [tool("echo")] });
  expect(record.end).toEqual({ type: "completed", errorText: undefined });
  return record.texts;
}

/** Tells whether an object belongs to another realm, and what its constructor chain reaches. */
const prelude = `
const root = Object.prototype;
const isForeign = (v) => { let p = v; while (Object.getPrototypeOf(p) !== null) p = Object.getPrototypeOf(p); return p !== root && p !== globalThis };
const reach = (v) => { try { const F = v.constructor?.constructor; if (typeof F !== "function") return "nothing"; return F("return globalThis")() === globalThis ? "own" : "FOREIGN" } catch { return "nothing" } };
`;

describe("a program finds nothing of the host", () => {
  it.each([
    ["constructors of helpers", "tools.echo.constructor", "return typeof process"],
    [
      "constructors of results",
      "(await tools.echo({ a: 1 })).constructor.constructor",
      "return typeof process",
    ],
    ["constructors of promises", "tools.echo(1).constructor.constructor", "return typeof require"],
    ["constructors of lists", "ALL_TOOLS.constructor.constructor", "return typeof globalThis.process"],
    ["async functions", "(async () => {}).constructor", "return typeof process"],
    ["generators of helpers", "as_settled([]).constructor.constructor.constructor", "return typeof process"],
    ["loaded values", "(store('k', {}), load('k')).constructor.constructor", "return typeof process"],
  ])("through %s", async (_name, constructor, body) => {
    expect(await texts(`text(await ${constructor}(${JSON.stringify(body)})())`)).toEqual(["undefined"]);
  });

  it("through call sites", async () => {
    const source = `Error.prepareStackTrace = (e, sites) => sites.map((s) => [s.getFileName(), typeof s.getThis(), typeof s.getFunction()].join()).join(";");
text({ toJSON() { return new Error().stack } }); setTimeout(() => text(new Error().stack)); await new Promise((r) => setTimeout(r, 5));`;
    for (const text of await texts(source))
      expect(text.replaceAll('"', "")).toMatch(/^(exec_main\.mjs,undefined,undefined;?)+$/);
  });

  it("through callers", async () => {
    const source = `const sloppy = new Function("return arguments.callee.caller"); text(String(sloppy()));
text({ toJSON: new Function("return String(arguments.callee.caller)") });
for (const key of ["caller", "arguments"]) try { text(String(text[key])) } catch (e) { text(e.constructor === TypeError) }
text(String(text))`;
    expect(await texts(source)).toEqual(["null", '"null"', "true", "true", "function () { [native code] }"]);
  });

  it("of the globals that it must not have, by another way", async () => {
    const source = `text(typeof new Date().toTemporalInstant);
const foreign = Reflect.construct(Date, [], text.bind()); text(typeof foreign.toTemporalInstant)`;
    expect(await texts(source)).toEqual(["undefined", "undefined"]);
  });

  it("on its global object", async () => {
    expect(await texts(`text(Reflect.ownKeys(globalThis).filter((k) => String(k).startsWith("$")))`)).toEqual(
      ["[]"],
    );
  });

  it("by eval and functions in the timers' receiver", async () => {
    const source = `await new Promise((r) => { setTimeout(new Function("globalThis.seen = this === globalThis")); setTimeout(r, 5) }); text(seen)`;
    expect(await texts(source)).toEqual(["true"]);
  });
});

describe("the realm behind the helpers", () => {
  it("hands out only frozen prototypes that lead nowhere", async () => {
    const source = `${prelude}
for (const target of [text.bind(), new Proxy(text, { get: () => undefined }), tools.echo.bind()]) {
  for (const C of [Object, Array, Error, TypeError, Promise, Map, WeakMap, Set, Function, String, Number, Boolean, Date, RegExp, ArrayBuffer, Uint8Array, DataView, Intl.Collator, Intl.NumberFormat, (async () => {}).constructor, (function* () {}).constructor, (async function* () {}).constructor, FinalizationRegistry]) {
    const values = C === Promise || C === FinalizationRegistry ? [() => {}] : C === DataView ? [new ArrayBuffer(1)] : [];
    const made = Reflect.construct(C, values, target);
    const p = Object.getPrototypeOf(made);
    for (let q = p; q !== null; q = Object.getPrototypeOf(q)) if (reach(q) === "FOREIGN" || (isForeign(q) && !Object.isFrozen(q))) text(C.name);
    for (const key of Reflect.ownKeys(p)) { const d = Reflect.getOwnPropertyDescriptor(p, key); for (const f of [d.value, d.get, d.set]) if (typeof f === "function" && reach(f) === "FOREIGN") text(C.name + String(key)) }
  }
}
text("done")`;
    expect(await texts(source)).toEqual(["done"]);
  });

  it("leads nowhere either from what overflows the stack inside helpers", async () => {
    const source = `${prelude}
const calls = [() => text({ a: 1n }), () => store("k", {}), () => load("k"), () => tools.echo({}), () => setTimeout(() => {}, Symbol()), () => clearTimeout(1n), () => image("x"), () => content(5), () => notify("")];
let worst = "own";
for (const call of calls) for (let pad = 0; pad < 4; pad++) {
  let left = 30; const padding = new Array(pad).fill(0);
  const dive = (...a) => { try { dive(...a) } catch (e) { if (left-- > 0) try { call() } catch (x) { if (typeof x === "object" && reach(x) === "FOREIGN") worst = "FOREIGN" } if (typeof e === "object" && reach(e) === "FOREIGN") worst = "FOREIGN"; throw 1 } };
  try { dive(...padding) } catch {}
}
text(worst)`;
    expect(await texts(source)).toEqual(["own"]);
  }, 20_000);

  it("carries nothing from one cell to the next", async () => {
    const list = `let list; await new Promise((r) => setTimeout(new Proxy(() => {}, { apply(_t, _r, a) { list = a; r() } })));
const { map } = Object.getPrototypeOf(list);`;
    await texts(`${list} try { map.keep = 1 } catch {}`);
    expect(await texts(`${list} text(map !== Array.prototype.map); text(typeof map.keep)`)).toEqual([
      "true",
      "undefined",
    ]);
  });

  it("cannot be disturbed for the next cell", async () => {
    await texts(
      `const p = Object.getPrototypeOf(Reflect.construct(Map, [], text.bind())); try { p.get = () => "bad" } catch {} store("k", 1)`,
    );
    expect(await texts(`store("k", 2); text(load("k")); text(await tools.echo({ a: 1 }))`)).toEqual([
      "2",
      '{"a":1}',
    ]);
  });
});

describe("what a program replaces takes no part in its helpers", () => {
  it.each([
    ["JSON", "JSON.stringify = JSON.parse = () => 'bad'"],
    [
      "promises",
      "Promise.prototype.then = () => { throw 'bad' }; Promise.resolve = Promise.withResolvers = () => 'bad'",
    ],
    [
      "arrays and maps",
      "Array.prototype[Symbol.iterator] = Map.prototype.get = Map.prototype.set = () => 'bad'",
    ],
    [
      "functions",
      "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'bad'",
    ],
    [
      "strings",
      "String.prototype.toWellFormed = String.prototype.toString = RegExp.prototype.test = () => 'bad'",
    ],
    ["reflection", "Reflect.apply = Reflect.construct = Object.defineProperty = () => 'bad'"],
    ["the global's prototype", "Object.setPrototypeOf(globalThis, null)"],
  ])("%s", async (_name, attack) => {
    const source = `${attack}; text({ a: 1 }); store("o", { b: 2 }); text(load("o")); text(await tools.echo({ c: 3 }))`;
    expect(await texts(source)).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  });

  it("except what the language looks up on values", async () => {
    const source = `Object.prototype.toJSON = () => "TJ"; text({}); delete Object.prototype.toJSON;
text({ toJSON() { text("inner"); return "outer" } }); text(await tools.echo({ then: 1 }))`;
    expect(await texts(source)).toEqual(['"TJ"', "inner", '"outer"', '{"then":1}']);
  });

  it("and proxies only act where the language asks them", async () => {
    const source = `try { text(new Proxy({}, { ownKeys() { throw "trap" } })) } catch (e) { text(e) }
try { text({ toJSON() { throw new Proxy({}, { getPrototypeOf: () => null, get: (_t, k) => k === "stack" ? "faked" : undefined }) } }) } catch (e) { text(e) }`;
    expect(await texts(source)).toEqual(["trap", "faked"]);
  });
});
