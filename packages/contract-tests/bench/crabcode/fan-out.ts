import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { startServerProcess } from "../../src/server/server-process.ts";
import { processCpuMs, report } from "../grok-tools/measure.ts";
import { startProvider } from "./provider.ts";
import { connectTo, subscribeRaw, until } from "./raw-subscription.ts";

const CONNECTIONS = 20;
const PER_CONNECTION = 50;
const CHUNKS = 300;

/** A thousand subscribers of one session. */
export async function benchFanOut(): Promise<void> {
  await using provider = await startProvider();
  await using server = await startServerProcess({ parameters: provider.parameters, env: { BENCH_KEY: "k" } });
  await using transport = createNodeTransport({ baseUrl: server.url });
  const client = new CrabcodeClient(transport);
  const { sessionId } = await client.sessions.create();
  await client.send("warm", { sessionId }).result();
  const connections = Array.from({ length: CONNECTIONS }, () => connectTo(server.url));
  const subscriptions = connections.flatMap((connection) =>
    Array.from({ length: PER_CONNECTION }, () => subscribeRaw(connection, sessionId)),
  );
  await until(() => subscriptions.every(({ count }) => count() >= 1));
  provider.answer = async (write) => {
    for (let index = 0; index < CHUNKS; index++) {
      write(`${index} `);
      await new Promise(setImmediate);
    }
  };
  const cpuBefore = processCpuMs(server.pid);
  const start = performance.now();
  await client.send("x", { sessionId }).result();
  const counts = (): number => subscriptions.reduce((sum, { count }) => sum + count(), 0);
  // The greeting of each is not an event of the turn; the text may come joined to those that fell behind.
  let before = -1;
  while (counts() !== before) {
    before = counts();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const elapsed = performance.now() - start - 500;
  const delivered = before - subscriptions.length;
  const cpuMs = processCpuMs(server.pid) - cpuBefore;
  report("events to 1 000 subscribers", delivered / (elapsed / 1000), {
    limit: 50_000,
    unit: "a second",
    atLeast: true,
    note: `${delivered} of ${(CHUNKS + 3) * subscriptions.length} events (the rest joined); ${((delivered / cpuMs) * 1000).toFixed(0)} per second of the server's CPU`,
  });
  for (const connection of connections) connection.destroy();
}
