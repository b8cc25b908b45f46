import type { EscapeProbe } from "./escape-probe.ts";

/** Changed prototypes, well-known symbols and tagged templates. */
export const prototypeProbes: readonly EscapeProbe[] = [
  {
    tries: "setters on Object.prototype that catch what helpers build",
    source: `const caught = []; for (const key of ["value", "get", "type", "text", "image_url", "name", "description", "index", "status", "0", "done", "resolve", "reject", "promise", "a"]) Object.defineProperty(Object.prototype, key, { __proto__: null, configurable: true, set(v) { caught.push(key + leads(this)) }, get() { return undefined } });
      text("x"); store("k", 1); load("k"); await tools.echo({}); for (const key of Object.getOwnPropertyNames(Object.prototype)) if (/^(value|get|type|text|image_url|name|description|index|status|0|done|resolve|reject|promise|a)$/.test(key)) delete Object.prototype[key]; text(caught.join() || "nothing")`,
    sees: ["x", "nothing"],
  },
  {
    tries: "getters on Object.prototype that make up options",
    source: `Object.prototype.image_url = "data:image/png;base64,AA"; Object.prototype.output_hint = "mine"; Object.prototype.stack = "fake"; text({ a: 1 }); store("k", {}); text(load("k")); delete Object.prototype.image_url; delete Object.prototype.output_hint; delete Object.prototype.stack`,
    sees: ['{"a":1}', "{}"],
  },
  {
    tries: "a frozen and a null Object.prototype chain",
    source: `Object.freeze(Object.prototype); Object.freeze(Function.prototype); Object.freeze(Promise.prototype); text({ a: 1 }); text(await tools.echo({ b: 1 })); try { Object.setPrototypeOf(Object.prototype, {}) } catch (e) { text(e.name) }`,
    sees: ['{"a":1}', '{"b":1}', "TypeError"],
  },
  {
    tries: "Promise.prototype.then and catch of its own",
    source: `const used = []; const { then } = Promise.prototype; Promise.prototype.then = function (...a) { used.push(...a.map(leads)); return then.apply(this, a) }; Promise.prototype.catch = Promise.prototype.finally = () => { used.push("catch") };
      const r = await tools.echo(1); for await (const x of as_settled([1])) text(x.value); Promise.prototype.then = then; text(r); text([...new Set(used)].filter((u) => u !== "own").join() || "own")`,
    sees: ["1", "1", "own"],
  },
  {
    tries: "Symbol.species of arrays, promises and buffers",
    source: `const looks = []; const evil = function (...a) { for (const one of a) looks.push(leads(one)); looks.push(leads(new.target)); return new Array(...a) }; for (const C of [Array, Promise, ArrayBuffer, Map, RegExp]) Object.defineProperty(C, Symbol.species, { get: () => evil, configurable: true });
      text({ a: [1].map((x) => x) }); store("k", [1]); text(load("k")); text([...new Set(looks)].join())`,
    sees: ['{"a":[1]}', "[1]", "own"],
  },
  {
    tries: "Symbol.hasInstance, isConcatSpreadable and unscopables",
    source: `for (const C of [Object, Promise, Error, Map]) Object.defineProperty(C, Symbol.hasInstance, { value: () => true }); Array.prototype[Symbol.isConcatSpreadable] = false; Array.prototype[Symbol.unscopables].map = false; Object.prototype[Symbol.toStringTag] = "Evil";
      text({ a: [1] }); text(await tools.echo([2])); text(Object.prototype.toString.call(text))`,
    sees: ['{"a":[1]}', "[2]", "[object Evil]"],
  },
  {
    tries: "registered and well-known symbols as keys of helpers' objects",
    source: `const keys = new Set(); for (const o of [globalThis, tools, ALL_TOOLS, ALL_TOOLS[0], text, tools.echo, text.prototype]) for (const k of Reflect.ownKeys(o)) if (typeof k === "symbol") keys.add(String(k)); text([...keys].sort().join()); text(typeof globalThis[Symbol.for("trivium.error")])`,
    sees: ["", "undefined"],
  },
  {
    tries: "a symbol where texts and values are wanted",
    source: `const results = []; for (const call of [() => store(Symbol(), 1), () => store("k", Symbol()), () => load(Symbol()), () => tools.echo(Symbol()), () => clearTimeout(Symbol())]) try { call() } catch (e) { results.push(typeof e) } text(Symbol()); text(results.join())`,
    sees: ["undefined", "string,string,string,string,string"],
  },
  {
    tries: "helpers as the tags of templates",
    source:
      "text`a${1}b`; const strings = ((s) => s)`x`; text(leads(strings)); store`k${2}`; text(load('k,'))",
    sees: ['["a","b"]', "own", "2"],
  },
  {
    tries: "async iterators whose methods look at what calls them",
    source: `const looks = []; const odd = { [Symbol.asyncIterator]() { looks.push(leads(this)); return { async next(...a) { looks.push(a.length); return { done: true } } } } }; for await (const _ of odd); try { as_settled(odd) } catch (e) { looks.push(e.name, leads(e)) } text(looks.join())`,
    sees: ["own,0,TypeError,own"],
  },
  {
    tries: "the prototypes of iterators and generators that helpers give",
    source: `const g = as_settled([1]); let p = g; const chain = []; while ((p = $proto(p)) !== null) chain.push(leads(p)); text([...new Set(chain)].join()); const { next } = $proto($proto(g)); text(next === (async function* () {}).prototype.__proto__.next); await g.return()`,
    sees: ["own", "true"],
  },
];
