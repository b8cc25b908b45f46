import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { startServerProcess } from "../../src/server/server-process.ts";
import { report, residentMiB, timeOf } from "../grok-tools/measure.ts";
import { resetPeak } from "../grok-tools/tools-server.ts";
import { startProvider } from "./provider.ts";
import { connectTo, subscribeRaw, until } from "./raw-subscription.ts";

const CHUNKS = 50_000;

/** A subscriber that stops reading neither slows a turn of 50 000 events nor fills the memory, and can read on. */
export async function benchStalledReader(): Promise<void> {
  await using provider = await startProvider();
  await using server = await startServerProcess({ parameters: provider.parameters, env: { BENCH_KEY: "k" } });
  await using transport = createNodeTransport({ baseUrl: server.url });
  const client = new CrabcodeClient(transport);
  const { sessionId } = await client.sessions.create();
  provider.answer = async (write) => {
    for (let index = 0; index < CHUNKS; index++) {
      write(`piece number ${index} `);
      if (index % 10 === 9) await new Promise(setImmediate);
    }
  };
  const turn = (): Promise<number> => timeOf(() => client.send("x", { sessionId }).result());
  await turn();
  resetPeak(server.pid);
  const aloneMs = await turn();
  const alonePeak = residentMiB(server.pid, "peak");
  const connection = connectTo(server.url);
  const stalled = subscribeRaw(connection, sessionId);
  await until(() => stalled.count() >= 1);
  stalled.stream.pause();
  resetPeak(server.pid);
  const besideMs = await turn();
  const peak = residentMiB(server.pid, "peak");
  report("a turn beside a reader that has stopped", besideMs / aloneMs, {
    limit: 1.2,
    unit: "times one without",
    note: `${besideMs.toFixed(0)} ms for ${CHUNKS} chunks`,
  });
  report("memory of the reader that has stopped", peak - alonePeak, { limit: 32, unit: "MiB" });
  const before = stalled.bytes();
  stalled.stream.resume();
  await until(() => stalled.bytes() > before + 1_000_000);
  console.log("       it reads on where it stopped");
  connection.destroy();
}
