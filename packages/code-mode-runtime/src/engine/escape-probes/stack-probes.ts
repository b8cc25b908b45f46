import type { EscapeProbe } from "./escape-probe.ts";

const sites = `Error.prepareStackTrace = (error, sites) => sites`;
const report = `(sites) => sites.map((s) => [s.getFileName(), typeof s.getThis(), typeof s.getFunction(), typeof s.getTypeName(), typeof s.getEvalOrigin()].join()).filter((line) => !/^(exec_main\\.mjs|<anonymous>),undefined,undefined/.test(line)).join("; ") || "own frames only"`;

/** Hooks of stack traces, call sites, errors that carry other errors, and full stacks. */
export const stackProbes: readonly EscapeProbe[] = [
  {
    tries: "the call sites of an error at the top level",
    source: `${sites}; const report = ${report}; text(report(new Error().stack))`,
    sees: ["own frames only"],
  },
  {
    tries: "the call sites of errors in callbacks of helpers",
    source: `${sites}; const report = ${report}; const seenSites = [];
      try { text({ toJSON() { seenSites.push(report(new Error().stack)); return 1 } }) } catch {}
      try { store({ toString() { seenSites.push(report(new Error().stack)); return "k" } }, 1) } catch {}
      await new Promise((r) => setTimeout(() => { seenSites.push(report(new Error().stack)); r() }));
      await stream_settled([1], () => { seenSites.push(report(new Error().stack)) });
      Error.prepareStackTrace = undefined; for (const s of seenSites) text(s)`,
    sees: ["1", "own frames only", "own frames only", "own frames only", "own frames only"],
  },
  {
    tries: "the objects that call sites are made of",
    source: `${sites}; const [site] = new Error().stack; text(leads(site)); text(leads(site.getThis())); text(leads($proto(site)))`,
    sees: ["own", "own", "own"],
  },
  {
    tries: "captureStackTrace on objects of the helpers",
    source: `${sites}; for (const target of [tools, ALL_TOOLS, text, tools.echo]) { try { Error.captureStackTrace(target); text(leads(target.stack)); delete target.stack } catch (e) { text(e.name) } }`,
    sees: ["own", "own", "own", "own"],
  },
  {
    tries: "a prepareStackTrace that is called for errors of the host",
    source: `const called = []; Error.prepareStackTrace = (error, sites) => { called.push(leads(error), leads(sites)); return "mine" };
      try { text({ a: 1n }) } catch (e) { called.push(leads(e)) } try { store("k", () => {}) } catch (e) { called.push(leads(e)) }
      try { await tools.echo(Symbol()) } catch (e) { called.push(leads(e)) } text([...new Set(called)].join())`,
    sees: ["own"],
  },
  {
    tries: "an endless stackTraceLimit",
    source: `Error.stackTraceLimit = Infinity; const lines = []; try { text({ toJSON() { throw new Error("x") } }) } catch (e) { lines.push(...String(e).split("\\n")) }
      text(lines.filter((line) => line.includes(" at ") && !line.includes("exec_main.mjs") && !line.includes("<anonymous>")).length)`,
    sees: ["0"],
  },
  {
    tries: "the chain of causes and the errors of an aggregate",
    source: `const inner = new Error("i", { cause: tools.echo }); const all = new AggregateError([inner, text], "a", { cause: inner });
      text([leads(all), leads(all.errors), leads(all.errors[0].cause)].join()); throw all`,
    sees: ["own,own,own"],
    ends: "failed",
    error: "AggregateError: a",
  },
  {
    tries: "an error whose stack is a getter that looks at what reads it",
    source: `const e = { get stack() { return "read by " + (new Error().stack.includes("exec_main.mjs") ? "nobody else" : "HOST") } }; throw e`,
    sees: [],
    ends: "failed",
    error: "read by ",
  },
  {
    tries: "errors of stacks that overflow inside helpers",
    source: `let worst = "own"; const calls = [() => text({ a: 1n }), () => store("k", [1]), () => load("k"), () => notify({}), () => image({}), () => content([{ type: "x" }])];
      for (const call of calls) { let tries = 20; const dive = () => { try { dive() } catch (e) { if (tries-- > 0) { if (leads(e) !== "own") worst = leads(e); try { call() } catch (x) { if (leads(x) !== "own") worst = leads(x) } } throw 1 } }; try { dive() } catch {} }
      text(worst)`,
    sees: ["own"],
  },
];
