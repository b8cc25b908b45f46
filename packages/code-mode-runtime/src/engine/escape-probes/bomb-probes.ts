import type { EscapeProbe } from "./escape-probe.ts";

/** Programs that do not end, or not as they would like to. */
export const bombProbes: readonly EscapeProbe[] = [
  {
    tries: "a regular expression that takes for ever",
    source: `text("start"); /^(?:a|aa|a?)+$/.test("a".repeat(60) + "!")`,
    sees: ["start"],
    ends: "endless",
  },
  {
    tries: "a replacement whose function searches again, for ever",
    source: `text("start"); "a".repeat(1e6).replace(/a/g, () => "a".repeat(30).replace(/(a*)*b/, ""))`,
    sees: ["start"],
    ends: "endless",
  },
  {
    // Short enough to be interrupted: a single operation cannot be, and costs the worker.
    tries: "products of big integers, again and again",
    source: `text("start"); let n = 3n; for (;;) n = n > 1n << 200000n ? 3n : n * n`,
    sees: ["start"],
    ends: "endless",
  },
  {
    tries: "catching its own end with labels and finally",
    source: `text("start"); out: for (;;) { try { for (;;); } catch { text("caught"); continue out } finally { text("finally"); continue out } }`,
    sees: ["start"],
    ends: "endless",
  },
  {
    tries: "a generator whose return does not return",
    source: `text("start"); function* stubborn() { for (;;) try { yield } finally { for (;;); } } for (const _ of stubborn()) break`,
    sees: ["start"],
    ends: "endless",
  },
  {
    tries: "an async iterator that feeds itself",
    source: `text("start"); const it = { [Symbol.asyncIterator]() { return this }, next: () => Promise.resolve({ value: 1 }) }; for await (const _ of it);`,
    sees: ["start"],
    ends: "endless",
  },
  {
    tries: "a conversion that never comes back",
    source: `text("start"); text(new Proxy({}, { ownKeys() { for (;;); } }))`,
    sees: ["start"],
    ends: "endless",
  },
  {
    tries: "leaving labelled loops by exit",
    source: `loop: for (const a of [1, 2]) { try { for (;;) { try { exit() } finally { text("inner"); continue loop } } } catch { text("caught") } finally { text("outer"); break loop } } text("after")`,
    sees: [],
  },
  {
    tries: "exit in an async function, a timer and a getter",
    source: `const o = { get now() { exit() } }; setTimeout(async () => { try { await null; o.now } catch { text("caught") } finally { text("finally") } }); try { await new Promise(() => {}) } finally { text("module") }`,
    sees: [],
  },
  {
    tries: "exit under using declarations",
    source: `using resource = { [Symbol.dispose]() { text("disposed") } }; const stack = new DisposableStack(); stack.defer(() => text("deferred")); exit()`,
    sees: [],
  },
  {
    tries: "a recursion through getters, proxies and toString",
    source: `const results = []; const a = { get b() { return a.b } }; const p = new Proxy({}, { get: (t, k, r) => r[k] }); const s = { toString: () => String(s) }; for (const f of [() => a.b, () => p.x, () => String(s), () => JSON.stringify(Array(1e4).fill().reduce((x) => [x], []))]) try { f(); results.push("fine") } catch (e) { results.push(e.constructor === RangeError) } text(results.slice(0, 3).join())`,
    sees: ["true,true,true"],
  },
  {
    tries: "sizes that no engine gives",
    source: `const results = []; for (const f of [() => "x".repeat(2 ** 30), () => new Uint8Array(2 ** 53), () => Array(2 ** 32), () => 2n ** (2n ** 40n), () => new ArrayBuffer(-1)]) try { f(); results.push("made") } catch (e) { results.push(e.name + leads(e)) } text([...new Set(results)].join())`,
    sees: ["RangeErrorown"],
  },
];
