import { setTimeout as sleep } from "node:timers/promises";
import { timeOf } from "../grok-tools/measure.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import type { HostKind } from "./hosts.ts";
import type { Values } from "./memory-figures.ts";
import { BenchSession } from "./session.ts";

const WARM_CELLS = 50;
const LEAST_CELLS = 100;
const LEAST_MS = 2_000;
/** The bomb has begun by then. */
const FUSE_MS = 50;

/** Programs that use up one thing without end. */
const bombs: Readonly<Record<string, string>> = {
  heap: "const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length));",
  buffer: "const kept = []; for (;;) kept.push(new Uint8Array(2 ** 26).fill(1));",
  string:
    "let text = 'x'; const kept = []; for (;;) { text += text + kept.length; kept.push(text.slice(1)); }",
  recursion: "const down = () => down() + 1; for (;;) try { down(); } catch {}",
  regex: "/^(a+)+$/.test('a'.repeat(60) + 'b');",
  timer:
    "for (;;) { for (let i = 0; i < 1000; i++) setTimeout(() => {}, 1e6); await new Promise((d) => setTimeout(d, 0)); }",
  microtask: "const again = () => Promise.resolve().then(again); await again();",
};

/** The time of small cells of one session while a program of another does its worst. */
export async function measureHostile(kind: HostKind): Promise<Values> {
  const values: Record<string, number> = {};
  for (const [name, source] of [["nothing", "await new Promise(() => {})"], ...Object.entries(bombs)]) {
    if (name === undefined || source === undefined) continue;
    Object.assign(values, await beside(kind, name, source));
  }
  return values;
}

async function beside(kind: HostKind, name: string, source: string): Promise<Values> {
  await using host = await kind.start();
  using connection = new GrpcConnection(host.url);
  const quiet = await BenchSession.open(connection);
  for (let index = 0; index < WARM_CELLS; index++) await quiet.run('text("hi")');
  const hostile = await BenchSession.open(connection);
  // However it ends: it is the others that are looked at.
  void hostile.run(source).catch(() => {});
  await sleep(FUSE_MS);
  const times: number[] = [];
  const start = performance.now();
  try {
    while (times.length < LEAST_CELLS || performance.now() - start < LEAST_MS) {
      times.push(await timeOf(() => quiet.run('text("hi")')));
    }
  } catch {
    // A host that is gone with all its sessions has no figure.
    return {
      [`cell beside a ${name} bomb, p50 ms`]: Number.NaN,
      [`cell beside a ${name} bomb, p99 ms`]: Number.NaN,
    };
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return {
    [`cell beside a ${name} bomb, p50 ms`]: at(0.5),
    [`cell beside a ${name} bomb, p99 ms`]: at(0.99),
  };
}
