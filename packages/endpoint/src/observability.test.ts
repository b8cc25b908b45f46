import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import { recordingLogger } from "./testing/recording-logger.ts";

const protocols = [
  ["grpc", { protocol: "grpc" }],
  ["grpc-web", { protocol: "grpc-web", httpVersion: "1.1" }],
  ["connect-stream", { protocol: "connect" }],
] as const;

describe("the access log", () => {
  it.each(protocols)(
    "has one line for each call with its id, method, code and time: %s",
    async (protocol, options) => {
      const logger = recordingLogger();
      const clock = new ManualClock();
      await using endpoint = failingEndpoint({ logger, clock, ids: sequentialIds() });
      const { url } = await endpoint.listen();
      await using transport = createNodeTransport({ baseUrl: url, ...options });
      const client = createClient(CrabCodeService, transport);
      await expect(collect(client.sendMessage({ text: "quota" }))).rejects.toThrow();
      await expect(collect(client.sendMessage({ text: "" }))).resolves.toEqual([]);
      while (logger.lines.length < 2) await new Promise((resolve) => setImmediate(resolve));
      expect(logger.lines.map(({ level, fields }) => ({ level, ...fields }))).toMatchObject([
        {
          level: "info",
          requestId: "00000000-0000-4000-8000-000000000001",
          method: "/crabcode.CrabCodeService/SendMessage",
          protocol,
          remoteAddress: "127.0.0.1",
          code: "resource_exhausted",
          durationMs: 0,
          reason: "quota",
        },
        { level: "info", requestId: "00000000-0000-4000-8000-000000000002", code: "ok" },
      ]);
      expect(endpoint.metrics.render()).toContain(
        `trivium_rpc_requests_total{method="/crabcode.CrabCodeService/SendMessage",protocol="${protocol}",code="resource_exhausted"} 1`,
      );
    },
  );

  it("has the cause of a failure of ours, which the client never sees", async () => {
    const logger = recordingLogger();
    await using endpoint = failingEndpoint({ logger });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const error = await createClient(CrabCodeService, transport)
      .listModels({})
      .catch((thrown: unknown) => ConnectError.from(thrown));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
    while (logger.lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(logger.lines[0]).toMatchObject({ level: "error", fields: { code: "internal" } });
    expect(String(logger.lines[0]?.fields["error"])).toContain("/etc/secret");
  });

  it("says canceled for a call its client gave up", async () => {
    const logger = recordingLogger();
    await using endpoint = failingEndpoint({ logger });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const stop = new AbortController();
    const events = createClient(CrabCodeService, transport).subscribeEvents({}, { signal: stop.signal });
    const iterator = events[Symbol.asyncIterator]();
    await iterator.next();
    stop.abort();
    await iterator.next().catch(() => {});
    while (logger.lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(logger.lines[0]).toMatchObject({ level: "info", fields: { code: "canceled" } });
  });

  it("never holds the token", async () => {
    const logger = recordingLogger();
    await using endpoint = failingEndpoint({ logger, auth: { token: "correct-horse" } });
    const { url } = await endpoint.listen();
    for (const token of ["correct-horse", "wrong-horse"]) {
      await using transport = createNodeTransport({ baseUrl: url, token });
      await createClient(CrabCodeService, transport)
        .listModels({})
        .catch(() => {});
    }
    while (logger.lines.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.stringify(logger.lines)).not.toContain("horse");
  });
});

describe("the request id", () => {
  it("is the client's if it is fit for a log, else ours; it is told to handler and client", async () => {
    const seen: (string | null)[] = [];
    await using endpoint = createEndpoint({
      ids: sequentialIds(),
      services: [
        (router) =>
          router.service(CrabCodeService, {
            listModels: (_request, { requestHeader }) => {
              seen.push(requestHeader.get("x-request-id"));
              return {};
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    const echoed: (string | null)[] = [];
    for (const id of ["mine-1", "not fit", undefined]) {
      const response = await fetch(`${url}/crabcode.CrabCodeService/ListModels`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(id !== undefined && { "x-request-id": id }) },
        body: "{}",
      });
      echoed.push(response.headers.get("x-request-id"));
    }
    expect(echoed[0]).toBe("mine-1");
    expect(echoed[1]).toMatch(/^0{8}-/);
    expect(echoed[2]).toMatch(/^0{8}-/);
    expect(seen).toEqual(echoed);
  });
});

function failingEndpoint(options: Omit<EndpointOptions, "services">) {
  return createEndpoint({
    ...options,
    services: [
      (router) =>
        router.service(CrabCodeService, {
          listModels: () => {
            throw new Error("cannot read /etc/secret");
          },
          async *sendMessage({ text }) {
            if (text === "quota") throw new ConnectError("quota", Code.ResourceExhausted);
            yield* [];
          },
          async *subscribeEvents(_request, { signal }) {
            yield {};
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            throw signal.reason;
          },
        }),
    ],
  });
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
