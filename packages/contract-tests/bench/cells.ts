/**
 * `pnpm bench`: how long an endless loop lives after Terminate, and what it costs the cells of another session.
 * Prints medians of one run; the ratio compares both halves of the same run.
 */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { startServerProcess } from "../src/server/server-process.ts";

const ROUNDS = 200;
const TERMINATIONS = 30;

await using server = await startServerProcess();
const host = createClient(CodeModeHost, createGrpcTransport({ baseUrl: server.url }));

const quiet = await openSession();
const hostile = await openSession();
for (let round = 0; round < 50; round++) await cellTime(quiet);
const alone = await collect(ROUNDS, () => cellTime(quiet));
const spinning = await startLoop(hostile);
const besideLoop = await collect(ROUNDS, () => cellTime(quiet));
await host.terminate({ sessionId: hostile.sessionId, cellId: spinning });
const terminations = await collect(TERMINATIONS, async () => {
  const cellId = await startLoop(hostile);
  return time(() => host.terminate({ sessionId: hostile.sessionId, cellId }));
});

print('text("hi") alone', alone);
print('text("hi") beside while(true)', besideLoop);
console.log(`ratio of the medians: ${(quantile(besideLoop, 0.5) / quantile(alone, 0.5)).toFixed(2)}`);
print("Terminate of while(true)", terminations);
process.exit(0);

interface OpenSession {
  readonly sessionId: string;
  executions: number;
}

async function openSession(): Promise<OpenSession> {
  const events = host.openSession({})[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done === true || first.value.event.case !== "opened") throw new Error("no session");
  return { sessionId: first.value.event.value.sessionId, executions: 0 };
}

async function cellTime(session: OpenSession): Promise<number> {
  session.executions += 1;
  const request = { sessionId: session.sessionId, executionId: `e${session.executions}`, toolCallId: "t" };
  return time(async () => {
    for await (const _ of host.execute({ ...request, source: 'text("hi")' }));
  });
}

/** The id of a cell that spins. */
async function startLoop(session: OpenSession): Promise<string> {
  session.executions += 1;
  const request = { sessionId: session.sessionId, executionId: `e${session.executions}`, toolCallId: "t" };
  let cellId = "";
  for await (const { event } of host.execute({ ...request, source: "while (true) {}", yieldTimeMs: 30n })) {
    if (event.case === "started") cellId = event.value.cellId;
  }
  return cellId;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function collect(count: number, measure: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let index = 0; index < count; index++) values.push(await measure());
  return values.toSorted((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function print(title: string, sorted: readonly number[]): void {
  const [p50, p99] = [quantile(sorted, 0.5).toFixed(2), quantile(sorted, 0.99).toFixed(2)];
  console.log(`${title}: p50 ${p50} ms, p99 ${p99} ms, ${sorted.length} times`);
}
