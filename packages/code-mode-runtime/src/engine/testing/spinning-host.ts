// A server with cells that do not stop, for tests that kill it. Prints "spinning" when they run.
import { createCellEngine } from "../create-cell-engine.ts";
import { startCell } from "./run-cell.ts";

const engine = createCellEngine();
const sources = ["for (;;);", "for (;;) text('x')", "for (;;) await null", "await new Promise(() => {})"];
const cells = sources.map((source, index) => startCell(engine, { source, sessionKey: `session-${index}` }));
await Promise.all(cells.map(({ ready }) => ready));
process.stdout.write("spinning\n");
process.stdin.resume();
