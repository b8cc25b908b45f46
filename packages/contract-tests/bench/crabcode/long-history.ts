import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { startServerProcess } from "../../src/server/server-process.ts";
import { median, processCpuMs, report, timeOf } from "../grok-tools/measure.ts";
import { startProvider } from "./provider.ts";

const LONG = 10_000;
const SHORT = 10;
const ROUNDS = 30;

/** A turn on a session with ten thousand stored messages, beside one on a session with ten. */
export async function benchLongHistory(): Promise<void> {
  await using provider = await startProvider();
  await using server = await startServerProcess({ parameters: provider.parameters, env: { BENCH_KEY: "k" } });
  await using transport = createNodeTransport({ baseUrl: server.url });
  const client = new CrabcodeClient(transport);
  const filled = async (messages: number): Promise<string> => {
    const { sessionId } = await client.sessions.create();
    for (let count = 0; count < messages; count += 2) await client.send("hello", { sessionId }).result();
    return sessionId;
  };
  const short = await filled(SHORT);
  const long = await filled(LONG);
  const turn = (sessionId: string): Promise<number> =>
    timeOf(() => client.send("hello", { sessionId }).result());
  const times: Record<"short" | "long", number[]> = { short: [], long: [] };
  const cpu = { short: 0, long: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, sessionId] of [
      ["short", short],
      ["long", long],
    ] as const) {
      const before = processCpuMs(server.pid);
      times[name].push(await turn(sessionId));
      cpu[name] += processCpuMs(server.pid) - before;
    }
  }
  report(`a turn on ${LONG} messages`, median(times.long) / median(times.short), {
    limit: 2,
    unit: `times one on ${SHORT}`,
    note: `${median(times.long).toFixed(1)} and ${median(times.short).toFixed(1)} ms; CPU of the server ${(cpu.long / ROUNDS).toFixed(1)} and ${(cpu.short / ROUNDS).toFixed(1)} ms`,
  });
}
