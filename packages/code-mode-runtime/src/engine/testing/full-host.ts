// A server that runs out of descriptors, loses its worker then, and gets its descriptors back. Prints what happens.
import { closeSync, openSync } from "node:fs";
import { createCellEngine } from "../create-cell-engine.ts";
import { runCell } from "./run-cell.ts";
import { workerPids } from "./worker-processes.ts";

const engine = createCellEngine({ maxWorkers: 1 });
const say = (text: unknown) => process.stdout.write(`${String(text)}\n`);
await runCell(engine, { source: "" });
const [pid = 0] = workerPids();
const descriptors: number[] = [];
try {
  for (;;) descriptors.push(openSync("/dev/null", "r"));
} catch (error) {
  say(error instanceof Error && "code" in error ? error.code : error);
}
process.kill(pid, "SIGKILL");
// Polled, since nothing else tells: the pool tries to replace the worker and cannot.
while (engine.stats().workers > 0) await new Promise((resolve) => setTimeout(resolve, 5));
try {
  await runCell(engine, { source: "" });
} catch (error) {
  say(error instanceof Error && "kind" in error ? error.kind : error);
}
say(engine.stats().liveCells);
for (const descriptor of descriptors) closeSync(descriptor);
say((await runCell(engine, { source: "text('on')" })).texts);
await engine[Symbol.asyncDispose]();
