import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { startServerProcess } from "../../src/server/server-process.ts";
import { median, report, residentMiB, timeOf } from "../grok-tools/measure.ts";
import { resetPeak } from "../grok-tools/tools-server.ts";
import { startProvider } from "./provider.ts";
import { connectTo, subscribeRaw, until } from "./raw-subscription.ts";

const CHUNKS = 50_000;
const ROUNDS = 3;

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
  const connection = connectTo(server.url);
  const times: Record<"alone" | "beside", number[]> = { alone: [], beside: [] };
  const peaks: Record<"alone" | "beside", number[]> = { alone: [], beside: [] };
  let stalled = subscribeRaw(connection, sessionId);
  stalled.stream.close();
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ["alone", "beside"] as const) {
      if (name === "beside") {
        stalled = subscribeRaw(connection, sessionId);
        const { count, stream } = stalled;
        await until(() => count() >= 1);
        stream.pause();
      }
      resetPeak(server.pid);
      times[name].push(await turn());
      peaks[name].push(residentMiB(server.pid, "peak"));
      if (name === "beside" && round < ROUNDS - 1) stalled.stream.close();
    }
  }
  report("a turn beside a reader that has stopped", median(times.beside) / median(times.alone), {
    limit: 1.2,
    unit: "times one without",
    note: `${median(times.beside).toFixed(0)} ms for ${CHUNKS} chunks`,
  });
  // Each beside the one before it: the history grows with every turn.
  const growth = peaks.beside.map((peak, round) => peak - (peaks.alone[round] ?? peak));
  report("memory of the reader that has stopped", median(growth), {
    limit: 32,
    unit: "MiB",
    note: `peaks ${peaks.beside.map(Math.round).join(", ")} beside ${peaks.alone.map(Math.round).join(", ")}`,
  });
  const before = stalled.bytes();
  stalled.stream.resume();
  await until(() => stalled.bytes() > before + 1_000_000);
  console.log("       it reads on where it stopped");
  connection.destroy();
}
