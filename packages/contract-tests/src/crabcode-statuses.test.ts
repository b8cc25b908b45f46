import type { Transport } from "@connectrpc/connect";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Carrier, carriers, uniqueName } from "./crabcode/carriers.ts";
import { playStatusCase } from "./crabcode/play-status-case.ts";
import { statusStates, TOKEN } from "./crabcode/status-states.ts";
import { readVectors, type StatusCase } from "./crabcode/vector.ts";
import { startVectorServer, type VectorServer } from "./crabcode/vector-server.ts";

const { rpc_errors: cases } = readVectors();

let shared: VectorServer;
/** It has a token, and no script may play there. */
let guarded: VectorServer;
const servers = new AsyncDisposableStack();
beforeAll(async () => {
  shared = servers.use(await startVectorServer());
  guarded = servers.use(await startVectorServer({ TRIVIUM_TOKEN: TOKEN }));
});
afterAll(() => servers.disposeAsync());

describe.each(carriers)("item 1: statuses are those of the contract, over $name", (carrier) => {
  it.concurrent.for(cases)("$name: $expect_code", { timeout: 60_000 }, async (one) => {
    const faults = await play(one, carrier);
    expect(faults.map((fault) => JSON.stringify(fault))).toEqual([]);
  });
});

async function play(one: StatusCase, carrier: Carrier): Promise<unknown[]> {
  const unique = uniqueName(one.name, carrier);
  await using stack = new AsyncDisposableStack();
  const kind = statusStates[one.state]?.server;
  if (kind !== "draining") {
    const server = kind === "guarded" ? guarded : shared;
    const openTransport = (url: string): Transport => carrier.createTransport(url);
    return await playStatusCase(one, { server, openTransport, unique });
  }
  const server = stack.use(await startVectorServer());
  // Stock clients say INTERNAL for a stream that the server refuses, those of the SDK what it means.
  const openTransport = (baseUrl: string): NodeTransport =>
    stack.use(createNodeTransport({ baseUrl, protocol: carrier.sdkProtocol }));
  return await playStatusCase(one, { server, openTransport, unique });
}
