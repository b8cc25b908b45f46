import type { EscapeProbe } from "./escape-probe.ts";

const spyProxy = `let busy = false; const seenByTraps = new Set(); const spy = (target) => new Proxy(target, new Proxy({}, { get: (_t, trap) => (...args) => { if (!busy) { busy = true; for (const a of args) seenByTraps.add(leads(a)); busy = false } return Reflect[trap](...args) } }))`;

/** Proxies and thenables in every place that a helper takes values or calls back. */
export const proxyProbes: readonly EscapeProbe[] = [
  {
    tries: "a proxy with every trap as the argument of helpers",
    source: `${spyProxy}; for (const call of [() => text(spy({ a: 1 })), () => store("k", spy([1])), () => image(spy({ image_url: "x" })), () => content(spy([])), () => tools.echo(spy({ b: 1 }))]) try { await call() } catch {}
      text([...seenByTraps].join())`,
    sees: ['{"a":1}', "own"],
  },
  {
    tries: "a proxy as the callback of a timer",
    source: `${spyProxy}; await new Promise((r) => setTimeout(spy(() => r()))); text([...seenByTraps].join())`,
    sees: ["own"],
  },
  {
    tries: "a proxy around a helper",
    source: `${spyProxy}; const mine = spy(text); mine("through"); text(leads(mine)); text([...seenByTraps].join())`,
    sees: ["through", "own", "own"],
  },
  {
    tries: "revoked proxies",
    source: `const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); const results = [];
      for (const call of [() => text(proxy), () => store("k", proxy), () => image(proxy), () => content(proxy), () => as_settled(proxy)]) try { call(); results.push("taken") } catch (e) { results.push(typeof e + leads(e)) } text([...new Set(results)].sort().join())`,
    sees: ["objectown,stringown"],
  },
  {
    tries: "a proxy as the prototype of the global object",
    source: `const reads = []; Object.setPrototypeOf(globalThis, new Proxy(Object.prototype, { has: (_t, k) => { reads.push(String(k)); return false }, get: (t, k) => { reads.push(String(k)); return t[k] } }));
      text({ a: 1 }); store("k", 1); load("k"); await tools.echo(1); text(reads.filter((name) => name.startsWith("$") || name === "process").join() || "nothing")`,
    sees: ['{"a":1}', "nothing"],
  },
  {
    tries: "a thenable as the result of a tool",
    source: `const r = await tools.echo({ then: "not a function" }); text(r.then)`,
    sees: ["not a function"],
  },
  {
    tries: "a then on Object.prototype that takes every result",
    source: `let caught = 0; Object.prototype.then = function (resolve) { delete Object.prototype.then; caught++; text(leads(this) + leads(resolve)); resolve("mine") }; text(await tools.echo({ a: 1 })); delete Object.prototype.then; text(caught)`,
    sees: ["ownown", "mine", "1"],
  },
  {
    tries: "thenables among the inputs of as_settled",
    source: `const odd = { then(resolve, reject) { text(leads(resolve) + leads(reject)); resolve({ then(r) { r("deep") } }) } };
      for await (const { status, value } of as_settled([odd])) text(status + " " + value)`,
    sees: ["ownown", "fulfilled deep"],
  },
  {
    tries: "a Promise subclass that watches its executor",
    source: `class P extends Promise { constructor(run) { super((a, b) => { globalThis.last = leads(a) + leads(b); run(a, b) }) } static get [Symbol.species]() { return P } }
      await P.resolve(1).then(() => tools.echo(1)); text(globalThis.last); for await (const x of as_settled([P.resolve(2)])) text(x.value)`,
    sees: ["ownown", "2"],
  },
];
