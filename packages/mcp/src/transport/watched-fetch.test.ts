import { once } from "node:events";
// oxlint-disable-next-line no-restricted-imports -- a server to fetch from, in tests only
import { createServer, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { watchedFetch } from "./watched-fetch.ts";

const MiB = Buffer.alloc(1024 ** 2, "x");

describe("watchedFetch", { timeout: 30_000 }, () => {
  it("ends an open stream when one event of it has more than 32 MiB", async () => {
    expect(await readStream(async (response) => await write(response, [...pieces(40)]))).toBe("cut");
  });

  it("lets a stream of many events through", async () => {
    const events = Array.from({ length: 40 }, () => [MiB, Buffer.from("\n\n")]).flat();
    expect(await readStream(async (response) => await write(response, events))).toBe(40 * (MiB.length + 2));
  });
});

function* pieces(count: number): Iterable<Buffer> {
  for (let index = 0; index < count; index += 1) yield MiB;
}

async function write(response: ServerResponse, buffers: readonly Buffer[]): Promise<void> {
  for (const buffer of buffers) if (!response.write(buffer)) await once(response, "drain");
  response.end();
}

/** Bytes of the whole stream, or that it was cut. */
async function readStream(answer: (response: ServerResponse) => Promise<void>): Promise<number | "cut"> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/event-stream");
    answer(response).catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const response = await watchedFetch(() => {})(`http://127.0.0.1:${port}/`, { method: "GET" });
    let length = 0;
    for await (const chunk of response.body ?? []) length += chunk.length;
    return length;
  } catch {
    return "cut";
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
