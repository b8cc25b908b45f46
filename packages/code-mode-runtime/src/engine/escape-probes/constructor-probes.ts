import type { EscapeProbe } from "./escape-probe.ts";

/** Walks along constructors, and code made from strings. */
export const constructorProbes: readonly EscapeProbe[] = [
  {
    tries: "the constructor of every helper",
    source: `const helpers = { text, image, audio, content, generatedImage, store, load, notify, exit, yield_control, setTimeout, clearTimeout, as_settled, stream_settled };
      for (const [name, helper] of Object.entries(helpers)) if (leads(helper) !== "own") text(name); text("done")`,
    sees: ["done"],
  },
  {
    tries: "the prototype objects of helpers and what they construct",
    source: `for (const helper of [text, store, load, notify, tools.echo]) { text(leads(helper.prototype) + " " + seen(() => new helper("k", 1)).replace("another", "ANOTHER")) }`,
    sees: ["k", "own own", "own own", "own own", "own own", "own own"],
  },
  {
    tries: "functions made by the Function of a tool",
    source: `text(tools.echo.constructor("return typeof process + typeof require + typeof globalThis.$host")())`,
    sees: ["undefinedundefinedundefined"],
  },
  {
    tries: "the constructors of generator, async and async generator functions",
    source: `const made = [function* () {}, async () => {}, async function* () {}].map((f) => f.constructor);
      text(made[0]("yield typeof process")().next().value); text(await made[1]("return typeof process")());
      text((await made[2]("yield typeof process")().next()).value)`,
    sees: ["undefined", "undefined", "undefined"],
  },
  {
    tries: "the async generator that as_settled gives",
    source: `const g = as_settled([1]); text(leads(g)); text(leads(await g.next())); text(leads(g.next())); await g.return()`,
    sees: ["own", "own", "own"],
  },
  {
    tries: "the promise of a tool and its result",
    source: `const p = tools.echo({ deep: [{ a: 1 }] }); text(leads(p)); const r = await p; text(leads(r)); text(leads(r.deep)); text(leads(r.deep[0]))`,
    sees: ["own", "own", "own", "own"],
  },
  {
    tries: "direct and indirect eval",
    source: `text(eval("typeof process")); text((0, eval)("typeof process")); text(leads((0, eval)("this")))`,
    sees: ["undefined", "undefined", "own"],
  },
  {
    tries: "sloppy code with `with` and a this that is the global object",
    source: `text(new Function("with (globalThis) { return typeof process + typeof require }")());
      text(new Function("return this === globalThis")()); text(leads(new Function("return this")()))`,
    sees: ["undefinedundefined", "true", "own"],
  },
  {
    tries: "the realm of a new target that a helper is bound to",
    source: `for (const C of [Object, Array, Error, Map, Promise, Function]) { const made = Reflect.construct(C, C === Promise ? [() => {}] : [], text.bind());
      const result = leads(made); if (result !== "own") text(C.name + " " + result) } text("done")`,
    sees: ["done"],
  },
  {
    tries: "a class that extends a helper",
    source: `class Mine extends text { constructor(v) { super(v); this.mine = 1 } } text(leads(new Mine("from a class"))); text(leads($proto(Mine)))`,
    sees: ["from a class", "own", "own"],
  },
  {
    tries: "caller and arguments of functions that helpers call",
    source: `const spy = new Function("return [typeof spy_caller(arguments.callee), typeof arguments.callee.caller].join()");
      globalThis.spy_caller = (f) => { try { return f.caller } catch (e) { return e.name } };
      text({ toJSON: spy }); store("k", { get a() { return spy() } }); text(load("k").a)`,
    sees: ['"object,object"', "object,object"],
  },
];
