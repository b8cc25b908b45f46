import type { EscapeProbe } from "./escape-probe.ts";

/** Code that runs while a helper converts an argument, and replaced parts of the conversion. */
export const conversionProbes: readonly EscapeProbe[] = [
  {
    tries: "getters that look at their receiver and their arguments",
    source: `const looks = []; const odd = { get a() { looks.push(leads(this), arguments.length); return 1 } }; text(odd); store("k", odd); await tools.echo(odd); text([...new Set(looks)].join())`,
    sees: ['{"a":1}', "own,0"],
  },
  {
    tries: "a toJSON that looks at its receiver and its key",
    source: `const looks = []; const odd = { toJSON(...args) { looks.push(leads(this), args.length, typeof args[0]); return "j" } }; text({ odd }); await tools.echo([odd]); text([...new Set(looks)].join())`,
    sees: ['{"odd":"j"}', "own,1,string"],
  },
  {
    tries: "re-entering helpers from conversions",
    source: `text({ toJSON() { store("k", { toJSON() { text("inner"); return load("none") ?? "empty" } }); return load("k") } })`,
    sees: ["inner", '"empty"'],
  },
  {
    tries: "ending the program in the middle of a conversion",
    source: `try { text({ toJSON() { text("before"); exit() } }) } finally { text("finally") } text("after")`,
    sees: ["before"],
  },
  {
    tries: "a reviver and a replacer, which belong to the program",
    source: `const calls = []; JSON.parse('{"a":[1]}', function (k, v) { calls.push(leads(this)); return v }); JSON.stringify({ a: 1 }, function (k, v) { calls.push(leads(this)); return v }); text([...new Set(calls)].join())`,
    sees: ["own"],
  },
  {
    tries: "JSON functions of its own, which helpers must not use",
    source: `const used = []; JSON.parse = (...a) => { used.push("parse", leads(a)); return {} }; JSON.stringify = (...a) => { used.push("stringify", leads(a)); return "{}" }; JSON.rawJSON = () => { used.push("raw") };
      store("k", { a: 1 }); text(load("k")); text(await tools.echo({ b: 1 })); text(used.length)`,
    sees: ['{"a":1}', '{"b":1}', "0"],
  },
  {
    tries: "raw JSON as a value",
    source: `text({ n: JSON.rawJSON("12345678901234567890") }); try { text(JSON.rawJSON("}")) } catch (e) { text(e.name) }`,
    sees: ['{"n":12345678901234567890}', "SyntaxError"],
  },
  {
    tries: "a toPrimitive that looks at what asks",
    source: `const looks = []; const odd = { [Symbol.toPrimitive](...args) { looks.push(leads(this), args.length, args[0]); return 1 } }; store(odd, 1); setTimeout(() => {}, odd); clearTimeout(odd); text([...new Set(looks)].join())`,
    sees: ["own,1,string,number"],
  },
  {
    tries: "iterators of its own as the input of content and as_settled",
    source: `const looks = []; const odd = { [Symbol.iterator]() { looks.push(leads(this)); return { next(...args) { looks.push(args.length); return { done: true } }, return() { looks.push("return"); return {} } } } };
      content(odd); for await (const _ of as_settled(odd)); text(looks.join())`,
    sees: ["own,0,own,0"],
  },
  {
    tries: "a replaced array iterator and spread",
    source: `const used = []; Array.prototype[Symbol.iterator] = function* () { used.push(leads(this)) }; text({ a: [1, 2] }); store("k", [3]); Array.prototype[Symbol.iterator] = Array.prototype.values; text(load("k")); text(used.length)`,
    sees: ['{"a":[1,2]}', "[3]", "0"],
  },
  {
    tries: "more arguments than helpers take, and another receiver",
    source: `text.call({ evil: 1 }, "a", text, tools); Reflect.apply(store, tools, ["k", 1, "x"]); text.apply(null, { length: 1, get 0() { return "b" } }); text(leads(text.apply(undefined, [])))`,
    sees: ["a", "b", "undefined", "own"],
  },
  {
    tries: "JSON that names __proto__ and constructor",
    source: `store("k", JSON.parse('{"__proto__":{"a":1},"constructor":{"b":2}}')); const r = load("k"); text(Object.keys(r).join()); text(r.a === undefined); text($proto(r) === Object.prototype)`,
    sees: ["__proto__,constructor", "true", "true"],
  },
];
