import { readFileSync } from "node:fs";
import { createClient, type Transport } from "@connectrpc/connect";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CodeModeServer, startCodeModeServer } from "./code-mode/code-mode-server.ts";
import { compare } from "./code-mode/compare.ts";
import { normalise } from "./code-mode/normalise.ts";
import { permittedDeviations } from "./code-mode/permitted-deviations.ts";
import { replayCells } from "./code-mode/replay-cells.ts";
import { replayOperations } from "./code-mode/replay-operations.ts";
import type { Vector } from "./code-mode/vector.ts";

const file = new URL("../vectors/code-mode.json", import.meta.url);
const vectors: readonly Vector[] = JSON.parse(readFileSync(file, "utf8"));

/** What the carrier could change: everything over gRPC, the rules of sessions and cells over the others too. */
const carriers = [
  { protocol: "grpc", groups: /./ },
  { protocol: "connect", groups: /^(session|lifecycle|tools)\// },
  { protocol: "grpc-web", groups: /^(session|lifecycle|tools)\// },
] as const;

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

let server: CodeModeServer;
beforeAll(async () => {
  server = await startCodeModeServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Cases that hang on real waits of a few milliseconds run one at a time: others would delay them. */
const timed = /^(lifecycle|limits|bounded)\//;
/** A machine that is busy otherwise misses such waits now and then; one that is wrong misses them every time. */
const attempts = { retry: 3 };

describe.each(carriers)("recorded cases over $protocol", ({ protocol, groups }) => {
  let transport: NodeTransport;
  beforeAll(() => {
    transport = createNodeTransport({ baseUrl: server.url, protocol, readMaxBytes: MAX_MESSAGE_BYTES });
  });
  afterAll(async () => {
    await transport[Symbol.asyncDispose]();
  });
  const chosen = vectors.filter(({ name }) => groups.test(name));

  it.concurrent.each(chosen.filter(({ name }) => !timed.test(name)))("$name", attempts, async (vector) => {
    await assertMatches(vector, transport);
  });

  it.each(chosen.filter(({ name }) => timed.test(name)))("$name", attempts, async (vector) => {
    await assertMatches(vector, transport);
  });
});

it("permitted deviations name existing vectors", () => {
  const names = new Set(vectors.map(({ name }) => name));
  expect(Object.keys(permittedDeviations).filter((name) => !names.has(name))).toEqual([]);
});

async function assertMatches(vector: Vector, transport: Transport): Promise<void> {
  const client = createClient(CodeModeHost, transport);
  const replay = vector.ops === undefined ? replayCells : replayOperations;
  const seen = normalise(await replay(client, vector), vector);
  const differences = compare(vector, seen);
  if (vector.name in permittedDeviations) expect(differences).not.toEqual([]);
  else expect(differences).toEqual([]);
  const names = vector.superset_of_sorted_names;
  if (names !== undefined) expect(globalsOf(seen)).toEqual(names);
}

function globalsOf(seen: unknown): unknown {
  const { cells } = seen as { cells: { execute: { content: { text: string }[] } }[] };
  return JSON.parse(cells[0]?.execute.content[0]?.text ?? "");
}
