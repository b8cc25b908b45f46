import type { EscapeProbe } from "./escape-probe.ts";

/** Buffers, typed arrays, weak references and what is left behind. */
export const memoryProbes: readonly EscapeProbe[] = [
  {
    tries: "typed arrays over the ends of a resized buffer",
    source: `const b = new ArrayBuffer(8, { maxByteLength: 64 }); const u = new Uint8Array(b, 4, 4); b.resize(4); text([u.length, u[0]].join()); b.resize(64); text([u.length, u[0], new Uint8Array(b).every((x) => x === 0)].join())`,
    sees: ["0,", "4,0,true"],
  },
  {
    tries: "a buffer that is detached in the middle of a conversion",
    source: `const u = new Uint8Array([1, 2, 3]); text({ a: { toJSON() { u.buffer.transfer(); return "gone" } }, u }); text(u.length)`,
    sees: ['{"a":"gone","u":{}}', "0"],
  },
  {
    tries: "new buffers that hold what others have written",
    source: `let dirty = 0; for (let i = 0; i < 200; i++) { const u = new Uint8Array(4096); for (const x of u) dirty |= x } text(dirty)`,
    sees: ["0"],
  },
  {
    tries: "a valueOf that shrinks the buffer under a copy",
    source: `const b = new ArrayBuffer(16, { maxByteLength: 16 }); const u = new Uint8Array(b); u.fill({ valueOf() { b.resize(2); return 7 } }); text([...u].join()); try { u.set({ length: 1, get 0() { b.resize(0); return 1 } }) } catch (e) { text(e.name) } text(u.length)`,
    sees: ["7,7", "0"],
  },
  {
    tries: "subclasses of typed arrays with lengths of their own",
    source: `class U extends Uint8Array { get length() { return 1e9 } } const u = new U(2); text(u.subarray(0, 1e9).byteLength); text(JSON.stringify(u)); store("k", u); text(load("k"))`,
    sees: ["2", '{"0":0,"1":0}', '{"0":0,"1":0}'],
  },
  {
    tries: "weak references to what helpers make",
    source: `const refs = [tools.echo({ a: 1 }), ALL_TOOLS, text].map((o) => new WeakRef(o)); text(refs.map((r) => leads(r.deref())).join()); text(leads(refs[0]))`,
    sees: ["own,own,own", "own"],
  },
  {
    tries: "finalizers that run after the program",
    source: `const registry = new FinalizationRegistry((held) => { text("finalized " + held); globalThis.late = true }); for (let i = 0; i < 1000; i++) registry.register({ i }, i); text(leads(registry))`,
    sees: ["own"],
  },
  {
    tries: "timers, reactions and tool calls that outlive the program",
    source: `setTimeout(() => text("late timer"), 1); Promise.resolve().then(() => new Promise((r) => setTimeout(r, 1))).then(() => text("late reaction")); tools.echo(1).then(() => text("late call")); text("end")`,
    sees: ["end"],
  },
  {
    tries: "keys of weak maps that another cell may hold",
    source: `const m = new WeakMap(); m.set(globalThis, "left"); Object.prototype.m = m; globalThis.left = "left"; Symbol.for("left"); store("own", "mine"); text(load("secret") === undefined)`,
    sees: ["true"],
  },
  {
    tries: "the stored values of another session by odd keys",
    source: `for (const key of ["secret", "victim/secret", "../victim/secret", "\\0secret", "__proto__", "constructor", "toString", ["secret"], { toString: () => "secret" }]) if (load(key) !== undefined) text(String(key)); text("done")`,
    sees: ["done"],
  },
];
