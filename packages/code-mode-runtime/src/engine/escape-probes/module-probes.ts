import type { EscapeProbe } from "./escape-probe.ts";

/** Imports, names of globals, and built-ins that know of the outside. */
export const moduleProbes: readonly EscapeProbe[] = [
  {
    tries: "importing built-in modules by every name",
    source: `for (const name of ["fs", "node:fs", "node:process", "module", "data:text/javascript,export default 1", "file:///etc/passwd", "./exec_main.mjs", "isolated-vm", ""]) await import(name).then(() => text(name), (why) => { if (why !== "unsupported import in exec") text(name + String(why)) }); text("done")`,
    sees: ["done"],
  },
  {
    tries: "importing from code made of strings",
    source: `for (const make of [() => eval("import('fs')"), () => (0, eval)("import('fs')"), () => new Function("return import('fs')")(), () => (async () => {}).constructor("return await import('fs')")()]) { try { await make(); text("imported") } catch (why) { text(typeof why === "string" || leads(why) === "own") } }`,
    sees: ["true", "true", "true", "true"],
  },
  {
    tries: "an import whose specifier is an object that looks at what asks",
    source: `const looks = []; await import({ toString(...a) { looks.push(leads(this), a.length); return "fs" } }).catch((why) => text(typeof why)); text(looks.join()); await import("fs", { with: { get type() { return "json" } } }).catch((why) => text(leads(why)))`,
    sees: ["string", "", "own"],
  },
  {
    tries: "import.meta",
    source: `text(Reflect.ownKeys(import.meta).length); text(leads(import.meta)); import.meta.url = "x"; text(import.meta.url)`,
    sees: ["0", "own", "x"],
  },
  {
    tries: "globals of Node, browsers and shells",
    source: `text(["process", "require", "module", "exports", "Buffer", "global", "window", "self", "setInterval", "setImmediate", "queueMicrotask", "structuredClone", "fetch", "Worker", "MessageChannel", "console", "gc", "print", "load_file", "read", "quit", "d8", "Deno", "Bun", "ivm", "_ivm"].filter((name) => name in globalThis).join() || "none")`,
    sees: ["none"],
  },
  {
    tries: "WebAssembly, Atomics and shared memory by any way",
    source: `text([typeof WebAssembly, typeof Atomics, typeof SharedArrayBuffer].join()); const tags = []; for (const C of [ArrayBuffer, Uint8Array, DataView]) tags.push(typeof C.prototype.wait); try { tags.push(new Function("return typeof WebAssembly")()) } catch (e) { tags.push(e.name) } text(tags.join())`,
    sees: ["undefined,undefined,undefined", "undefined,undefined,undefined,undefined"],
  },
  {
    tries: "names of globals that are shadowed or deleted",
    source: `const keep = text; { const globalThis = { tools: {} }; keep(typeof globalThis.tools.echo) } const said = delete globalThis.tools && delete globalThis.ALL_TOOLS && delete globalThis.load; keep(said); keep(typeof tools); globalThis.text = () => keep("mine"); text("x"); delete globalThis.text; keep(typeof text)`,
    sees: ["undefined", "true", "undefined", "mine", "undefined"],
  },
  {
    tries: "replaced globals that the end of a program may use",
    source: `globalThis.Error = globalThis.Object = globalThis.Promise = globalThis.String = globalThis.Function = globalThis.JSON = undefined; text("still"); throw { stack: "mine" }`,
    sees: ["still"],
    ends: "failed",
    error: "mine",
  },
  {
    tries: "a non-configurable getter in place of a global",
    source: `Object.defineProperty(globalThis, "tools", { get() { throw new Error("no") }, configurable: false }); Object.freeze(globalThis); text("frozen")`,
    sees: ["frozen"],
  },
  {
    tries: "Intl and Date objects",
    source: `text([new Intl.NumberFormat(), new Intl.DateTimeFormat().resolvedOptions(), new Intl.Segmenter("en").segment("a")[Symbol.iterator]().next(), new Date(), Intl.supportedValuesOf("unit"), new Intl.Locale("en").getCalendars?.()].map(leads).filter((l) => l !== "own").length); text(typeof new Date().toTemporalInstant)`,
    sees: ["0", "undefined"],
  },
  {
    tries: "a clock or a time zone that it sets for others",
    source: `Date.now = () => 0; Date = class { constructor() { return { fake: true } } }; Math.random = () => 4; text(Date.now?.() ?? "gone"); text(new Date().fake)`,
    sees: ["gone", "true"],
  },
];
