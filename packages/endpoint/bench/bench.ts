/**
 * The endpoint beside connect-node's own server: CPU of this process per call or message, client included, so that
 * only the ratio of two rows means anything. Servers take turns; medians are shown. Run with `pnpm bench`.
 */
import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { type ConnectRouter, createClient } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import { createEndpoint } from "../src/index.ts";

const ROUNDS = 5;
const UNARY_CALLS = 1_000;
const STREAM_MESSAGES = 5_000;

type Server = { readonly url: string } & AsyncDisposable;

function routes(router: ConnectRouter): void {
  router.service(CrabCodeService, {
    getAgent: ({ agentId }) => ({ agentId }),
    async *sendMessage({ text }) {
      for (let count = 0; count < STREAM_MESSAGES; count++) yield { payloadJson: text };
    },
  });
}

async function endpoint(): Promise<Server> {
  const server = createEndpoint({ services: [routes] });
  const { url } = await server.listen();
  return { url, [Symbol.asyncDispose]: () => server.close() };
}

async function connectNode(): Promise<Server> {
  const server = createServer(connectNodeAdapter({ routes, acceptCompression: [] }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

/** Microseconds of CPU for each of `count` things. */
async function costOf(count: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

async function measure(start: () => Promise<Server>): Promise<{ unary: number; stream: number }> {
  await using server = await start();
  await using transport = createNodeTransport({ baseUrl: server.url });
  const client = createClient(CrabCodeService, transport);
  const text = "x".repeat(100);
  const unary = await costOf(UNARY_CALLS, async () => {
    for (let done = 0; done < UNARY_CALLS; done += 50) {
      await Promise.all(Array.from({ length: 50 }, () => client.getAgent({ agentId: text })));
    }
  });
  const stream = await costOf(STREAM_MESSAGES, async () => {
    for await (const event of client.sendMessage({ text })) void event;
  });
  return { unary, stream };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const servers = { endpoint, "connect-node": connectNode };
const results = new Map<string, { unary: number; stream: number }[]>();
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, start] of Object.entries(servers)) {
    const result = await measure(start);
    // The first round warms up.
    if (round > 0) results.set(name, [...(results.get(name) ?? []), result]);
  }
}
for (const [name, rounds] of results) {
  const unary = median(rounds.map((each) => each.unary));
  const stream = median(rounds.map((each) => each.stream));
  console.log(`${name.padEnd(14)} unary ${unary.toFixed(0)} µs, stream ${stream.toFixed(1)} µs a message`);
}
