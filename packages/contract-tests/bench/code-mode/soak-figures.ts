import { setTimeout as sleep } from "node:timers/promises";
import { timeOf } from "../grok-tools/measure.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import type { Host, HostKind } from "./hosts.ts";
import type { Values } from "./memory-figures.ts";
import { BenchSession } from "./session.ts";
import { treePss, treeThreads } from "./tree-figures.ts";

const WARM_CELLS = 100;
const CELLS = 10_000;
const SESSIONS = 50;
const AT_ONCE = 10;
/** After so long everything that a host starts ahead of need is there. */
const RUNNING_MS = 2_000;
const LONGEST_RETURN_S = 75;

/** Ten thousand cells of fifty sessions, and what is left of them. */
export async function measureSoak(kind: HostKind): Promise<Values> {
  await using host = await kind.start();
  using connection = new GrpcConnection(host.url);
  const warm = await BenchSession.open(connection);
  for (let index = 0; index < WARM_CELLS; index++) await warm.run('text("hi")');
  await sleep(RUNNING_MS);
  const before = { pss: treePss(host), threads: treeThreads(host) };
  const ms = await timeOf(() => runMany(connection));
  const after = treePss(host);
  const returnS = await returnTime(host, before.pss * 1.2);
  return {
    "10 000 cells of 50 sessions, cells/s": (CELLS / ms) * 1000,
    "PSS before them, MiB": before.pss,
    "PSS right after them, MiB": after,
    "time until it is within 20 % of before, s": returnS,
    "PSS then, MiB": treePss(host),
    "threads before them": before.threads,
    "threads then": treeThreads(host),
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
