import { setTimeout as sleep } from "node:timers/promises";
import { timeOf } from "../grok-tools/measure.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import type { HostKind } from "./hosts.ts";
import { BenchSession } from "./session.ts";
import { treePss } from "./tree-figures.ts";

/** Values of one fresh process, by the name of their figure. */
export type Values = Readonly<Record<string, number>>;

const SETTLE_MS = 300;
/** After so long everything that a host starts ahead of need is there. */
const RUNNING_MS = 2_000;
const COUNT = 100;

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

/** What sessions and live cells hold. */
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
  return {
    "PSS after 100 cells, MiB": base,
    "PSS per open session, KiB": ((withSessions - base) / COUNT) * 1024,
    "PSS per live cell, MiB": (withCells - base) / COUNT,
  };
}
