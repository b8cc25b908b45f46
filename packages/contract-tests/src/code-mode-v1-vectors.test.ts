import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compare } from "./code-mode-v1/compare.ts";
import type { Peer } from "./code-mode-v1/peer.ts";
import { isPermittedDeviation, permittedV1Deviations } from "./code-mode-v1/permitted-deviations.ts";
import { replay } from "./code-mode-v1/replay.ts";
import { startV1Server, type V1Server } from "./code-mode-v1/v1-server.ts";
import { type V1Vector, v1Vectors } from "./code-mode-v1/vector.ts";

let server: V1Server;
beforeAll(async () => {
  server = await startV1Server();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const carriers: readonly { carrier: "pipes" | "WebSocket"; connect: () => Promise<Peer> }[] = [
  { carrier: "pipes", connect: async () => server.connectStdio() },
  { carrier: "WebSocket", connect: () => server.connectWebSocket() },
];

/**
 * Some programs had a single millisecond to say something. A machine that is busy otherwise misses that now and then; an
 * implementation that is wrong always does.
 */
const attempts = { retry: 8 };

describe.each(carriers)("recorded connections over $carrier", ({ carrier, connect }) => {
  it.each(v1Vectors.filter(({ name }) => !isPermittedDeviation(name, carrier)))(
    "$name",
    attempts,
    async (vector: V1Vector) => {
      expect(compare(vector, await replay(vector, await connect()))).toEqual([]);
    },
  );

  it.each(v1Vectors.filter(({ name }) => isPermittedDeviation(name, carrier)))(
    "$name, which is not followed",
    async (vector: V1Vector) => {
      expect(compare(vector, await replay(vector, await connect()))).not.toEqual([]);
    },
  );
});

it("permitted deviations name existing recordings", () => {
  const names = new Set(v1Vectors.map(({ name }) => name));
  expect(Object.keys(permittedV1Deviations).filter((name) => !names.has(name))).toEqual([]);
});
