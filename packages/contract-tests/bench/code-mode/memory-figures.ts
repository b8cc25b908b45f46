import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { descendantsOf } from "../../src/server/process-tree.ts";
import { timeOf } from "../grok-tools/measure.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import type { Host, HostKind } from "./hosts.ts";
import { BenchSession } from "./session.ts";

/** Values of one fresh process, by the name of their figure. */
export type Values = Readonly<Record<string, number>>;

const SETTLE_MS = 300;
/** After so long everything that a host starts ahead of need is there. */
const RUNNING_MS = 2_000;
const COUNT = 100;
const CELLS = 10_000;
const SESSIONS = 50;
const AT_ONCE = 10;
const LONGEST_RETURN_S = 90;

/** From the start of a process to its first cell. */
export async function measureStart(kind: HostKind): Promise<Values> {
  const start = performance.now();
  await using host = await kind.start();
  const startMs = performance.now() - start;
  await sleep(RUNNING_MS);
  const idle = treePss(host);
  using connection = new GrpcConnection(host.url);
  let first = Number.NaN;
  const openMs = await timeOf(async () => {
    const session = await BenchSession.open(connection);
    first = await timeOf(() => session.run('text("hi")'));
  });
  await sleep(SETTLE_MS);
  return {
    "start of the process to listening, ms": startMs,
    "first session and cell of a running host, ms": openMs,
    "first cell of those, ms": first,
    "PSS idle, MiB": idle,
    "PSS after the first cell, MiB": treePss(host),
  };
}

/** What sessions and live cells hold, and what comes back. */
export async function measureMemory(kind: HostKind): Promise<Values> {
  await using host = await kind.start();
  using connection = new GrpcConnection(host.url);
  const warm = await BenchSession.open(connection);
  for (let index = 0; index < COUNT; index++) await warm.run('text("hi")');
  await sleep(RUNNING_MS);
  const base = treePss(host);
  const sessions = await Promise.all(Array.from({ length: COUNT }, () => BenchSession.open(connection)));
  await sleep(SETTLE_MS);
  const withSessions = treePss(host);
  for (const session of sessions) session.close();
  const live = await BenchSession.open(connection);
  for (let index = 0; index < COUNT; index++) await live.run("await new Promise(() => {});", 0n);
  await sleep(SETTLE_MS);
  const withCells = treePss(host);
  live.close();
  await runMany(connection);
  const after = treePss(host);
  return {
    "PSS per open session, KiB": ((withSessions - base) / COUNT) * 1024,
    "PSS per live cell, MiB": (withCells - base) / COUNT,
    "PSS before 10 000 cells, MiB": base,
    "PSS after 10 000 cells of 50 sessions, MiB": after,
    "time until it is within 20 % of before, s": await returnTime(host, base * 1.2),
  };
}

async function runMany(connection: GrpcConnection): Promise<void> {
  for (let round = 0; round < SESSIONS / AT_ONCE; round++) {
    const sessions = await Promise.all(Array.from({ length: AT_ONCE }, () => BenchSession.open(connection)));
    await Promise.all(
      sessions.map(async (session) => {
        for (let index = 0; index < CELLS / SESSIONS; index++) await session.run('text("hi")');
      }),
    );
    for (const session of sessions) session.close();
  }
}

/** Infinite when it does not come back within the time that is waited. */
async function returnTime(host: Host, limitMiB: number): Promise<number> {
  for (let seconds = 0; seconds <= LONGEST_RETURN_S; seconds++) {
    if (treePss(host) <= limitMiB) return seconds;
    await sleep(1_000);
  }
  return Number.POSITIVE_INFINITY;
}

/** Memory of a host and of everything below it, shared pages by their share, in MiB. */
function treePss({ pid }: Host): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, one) => sum + pssOf(one), 0);
}

function pssOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}
