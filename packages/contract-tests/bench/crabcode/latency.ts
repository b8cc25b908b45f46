import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { startServerProcess } from "../../src/server/server-process.ts";
import { median, quantile, report } from "../grok-tools/measure.ts";
import { startProvider } from "./provider.ts";

const CHUNKS = 400;
const TURNS = 100;
const WARM_UP = 20;

/** From a chunk of the provider to its event at the client, and from a message to the first event of its turn. */
export async function benchLatency(): Promise<void> {
  await using provider = await startProvider();
  await using server = await startServerProcess({ parameters: provider.parameters, env: { BENCH_KEY: "k" } });
  await using transport = createNodeTransport({ baseUrl: server.url });
  const client = new CrabcodeClient(transport);
  const writtenAt: number[] = [];
  provider.answer = async (write) => {
    for (let index = 0; index < CHUNKS; index++) {
      writtenAt[index] = performance.now();
      write(`${index}|`);
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
  };
  const latencies: number[] = [];
  for (let round = 0; round < 3; round++) {
    for await (const event of client.send("x")) {
      if (event.type !== "stream_text" || round === 0) continue;
      const at = performance.now();
      for (const index of event.text.split("|").slice(0, -1)) {
        latencies.push(at - (writtenAt[Number(index)] ?? at));
      }
    }
  }
  report("a chunk of the model to its event, p95", quantile(latencies, 0.95), {
    limit: 3,
    unit: "ms",
    note: `median ${median(latencies).toFixed(2)} ms of ${latencies.length}`,
  });

  await client.switchModel("offline");
  const first: number[] = [];
  for (let turn = 0; turn < TURNS + WARM_UP; turn++) {
    const start = performance.now();
    let at: number | undefined;
    for await (const _event of client.send("help")) at ??= performance.now();
    if (turn >= WARM_UP && at !== undefined) first.push(at - start);
  }
  report("the first event of an offline turn", median(first), {
    limit: 20,
    unit: "ms",
    note: `p95 ${quantile(first, 0.95).toFixed(1)} ms`,
  });
}
