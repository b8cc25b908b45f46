import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ManualClock } from "@trivium/core/testing";
import { CrabCodeService, SendMessageRequestSchema } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";
import { shapesService } from "./testing/shapes.ts";

const SEND = "/crabcode.CrabCodeService/SendMessage";
const KIB = 1024;

const protocols = [
  ["gRPC", { protocol: "grpc" }],
  ["gRPC-Web over HTTP/2", { protocol: "grpc-web" }],
  ["gRPC-Web over HTTP/1.1", { protocol: "grpc-web", httpVersion: "1.1" }],
  ["Connect over HTTP/2", { protocol: "connect" }],
  ["Connect over HTTP/1.1", { protocol: "connect", httpVersion: "1.1" }],
] as const;

describe("the read limit", () => {
  it.each(protocols)("is what a message may have, and not a byte more, over %s", async (_name, options) => {
    await using endpoint = echoEndpoint({ limits: { readMaxBytes: 100 * KIB } });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url, ...options });
    const client = createClient(CrabCodeService, transport);
    const fits = textOfMessageBytes(100 * KIB);
    expect((await client.getAgent({ agentId: fits })).agentId).toBe("length 102396");
    await expectCode(client.getAgent({ agentId: `${fits}x` }), Code.ResourceExhausted);
  });

  it.each(protocols)("gives OUT_OF_RANGE for a service that wants it, over %s", async (_name, options) => {
    await using endpoint = echoEndpoint({
      limits: { readMaxBytes: 10 * KIB },
      methodLimits: {
        "crabcode.CrabCodeService": { readMaxBytes: 100 * KIB, writeMaxBytes: 1 * KIB, excess: "outOfRange" },
        "crabcode.CrabCodeService/GetAgent": { readMaxBytes: 200 * KIB },
      },
    });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url, ...options });
    const client = createClient(CrabCodeService, transport);
    expect((await client.getAgent({ agentId: "x".repeat(150 * KIB) })).agentId).toBe("length 153600");
    await expectCode(client.getAgent({ agentId: "x".repeat(201 * KIB) }), Code.OutOfRange);
    await expectCode(client.cancelAgent({ agentId: "x".repeat(101 * KIB) }), Code.OutOfRange);
    // The answer is larger than the write limit.
    await expectCode(collect(client.sendMessage({ text: "x".repeat(2 * KIB) })), Code.OutOfRange);
  });

  it("holds while inflating: a small bomb costs little and is refused", async () => {
    await using endpoint = echoEndpoint({ limits: { readMaxBytes: 1024 * KIB } });
    const { url } = await endpoint.listen();
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * KIB));
    const beforeBytes = process.memoryUsage().arrayBuffers;
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, SEND, { "grpc-encoding": "gzip" });
    stream.end(envelope(bomb, 1));
    const { headers } = await answerOf(stream);
    expect(headers["grpc-status"]).toBe(String(Code.ResourceExhausted));
    expect(process.memoryUsage().arrayBuffers - beforeBytes).toBeLessThan(16 * 1024 * KIB);
  });

  it("is known from the length prefix: the body is not waited for, and the client is told to stop", async () => {
    await using endpoint = echoEndpoint({});
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, SEND);
    stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]));
    const { headers, rstCode } = await answerOf(stream);
    expect(headers["grpc-status"]).toBe(String(Code.ResourceExhausted));
    expect(rstCode).toBe(0);
  });

  it.each(protocols)(
    "is a status, not a reset, for a client in the middle of its upload over %s",
    async (_name, options) => {
      await using endpoint = echoEndpoint({ limits: { readMaxBytes: 100 * KIB } });
      const { url } = await endpoint.listen();
      await using transport = createNodeTransport({ baseUrl: url, ...options });
      const client = createClient(CrabCodeService, transport);
      await expectCode(client.getAgent({ agentId: "x".repeat(2 * 1024 * KIB) }), Code.ResourceExhausted);
      expect((await client.getAgent({ agentId: "x" })).agentId).toBe("length 1");
    },
  );

  it("is a status also for a client over HTTP/1.1 that reads only after its upload", async () => {
    await using endpoint = echoEndpoint({ limits: { readMaxBytes: 100 * KIB } });
    const { port } = await endpoint.listen();
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    const bodyBytes = 4 * 1024 * KIB;
    socket.write("POST /crabcode.CrabCodeService/GetAgent HTTP/1.1\r\nhost: localhost\r\n");
    socket.write(`content-type: application/json\r\ncontent-length: ${bodyBytes}\r\n\r\n`);
    for (let sent = 0; sent < bodyBytes / 2; sent += 64 * KIB) {
      await new Promise((resolve) => socket.write(Buffer.alloc(64 * KIB), resolve));
    }
    // Time in which a connection that is simply closed would be reset, and the answer with it.
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.write(Buffer.alloc(64 * KIB));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const [answer] = (await once(socket.resume(), "data")) as [Buffer];
    expect(answer.toString()).toContain("resource_exhausted");
    socket.destroy();
  });
});

describe("the header limit", () => {
  it("refuses a header list of more than 64 KiB and keeps the connection", async () => {
    await using endpoint = echoEndpoint({});
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const large = openCall(client.session, SEND, { "x-large": "x".repeat(70 * KIB) });
    large.end();
    expect((await answerOf(large)).headers[":status"]).not.toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe("the budget for request bytes", () => {
  it("fails the newest call when a connection holds too much, and lets the others finish", async () => {
    await using endpoint = echoEndpoint({
      limits: { connectionRequestBytes: 300 * KIB, readMaxBytes: 200 * KIB },
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const message = messageBytes(128 * KIB);
    const streams: ClientHttp2Stream[] = [];
    for (let count = 0; count < 3; count++) {
      const stream = openCall(client.session, "/crabcode.CrabCodeService/GetAgent");
      // All but the end: the server has to hold it.
      stream.write(message.subarray(0, message.byteLength - 1));
      await waitFor(() => endpoint.stats().requestBytes >= (count + 1) * 128 * KIB || count === 2);
      streams.push(stream);
    }
    const [first, second, third] = streams as [ClientHttp2Stream, ClientHttp2Stream, ClientHttp2Stream];
    expect((await answerOf(third)).headers["grpc-status"]).toBe(String(Code.ResourceExhausted));
    const answers = [first, second].map(answerOf);
    for (const stream of [first, second]) stream.end(message.subarray(-1));
    for (const { trailers } of await Promise.all(answers)) expect(trailers["grpc-status"]).toBe("0");
    expect(endpoint.stats().requestBytes).toBe(0);
  });

  it("always has room for one message that is within its method's limit", async () => {
    await using endpoint = echoEndpoint({
      limits: { connectionRequestBytes: 64 * KIB, totalRequestBytes: 64 * KIB },
      methodLimits: { "crabcode.CrabCodeService/GetAgent": { readMaxBytes: 512 * KIB } },
    });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const call = createClient(CrabCodeService, transport).getAgent({
      agentId: textOfMessageBytes(512 * KIB),
    });
    expect((await call).agentId).toBe("length 524284");
  });

  it("counts what handlers of streams do not read, and refuses further calls until they do", async () => {
    const go = Promise.withResolvers<void>();
    await using endpoint = createEndpoint({
      limits: { connectionRequestBytes: 512 * KIB, streamWindowBytes: 64 * KIB, readMaxBytes: 100 * KIB },
      services: [
        shapesService({
          async upload(requests) {
            await go.promise;
            return { value: Buffer.from(String((await collect(requests)).length)) };
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const path = "/test.Shapes/Upload";
    const streams = Array.from({ length: 10 }, () => openCall(client.session, path));
    const message = envelope(
      toBinary(BytesValueSchema, create(BytesValueSchema, { value: Buffer.alloc(60 * KIB) })),
    );
    await Promise.all(
      streams.map((stream) => new Promise<void>((resolve) => void stream.write(message, () => resolve()))),
    );
    // The server has taken them from the socket when it answers what was sent later.
    await new Promise((resolve) => client.session.ping(resolve));
    const late = openCall(client.session, path);
    late.write(envelope(Buffer.alloc(1)));
    expect((await answerOf(late)).headers["grpc-status"]).toBe(String(Code.ResourceExhausted));
    go.resolve();
    const answers = streams.map(answerOf);
    for (const stream of streams) stream.end();
    for (const { trailers } of await Promise.all(answers)) expect(trailers["grpc-status"]).toBe("0");
    expect(endpoint.stats().requestBytes).toBe(0);
  });
});

describe("a request that stops", () => {
  it("ends with DEADLINE_EXCEEDED when a message makes no progress for the time of the body timer", async () => {
    const clock = new ManualClock();
    await using endpoint = echoEndpoint({ clock, limits: { bodyStallMs: 30_000 } });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, SEND);
    stream.write(envelope(Buffer.alloc(1000)).subarray(0, 100));
    await waitFor(() => endpoint.stats().requestBytes === 100);
    const answer = answerOf(stream);
    await clock.advance(30_000);
    expect((await answer).trailers["grpc-status"]).toBe(String(Code.DeadlineExceeded));
  });

  it("may be silent between the messages of a stream", async () => {
    const clock = new ManualClock();
    await using endpoint = echoEndpoint({
      clock,
      limits: { bodyStallMs: 30_000, idleTimeoutMs: 10_000_000 },
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
    stream.write(envelope(Buffer.from([0x3a, 0])));
    await once(stream, "data");
    await clock.advance(300_000);
    expect(stream.closed).toBe(false);
    const answer = answerOf(stream);
    stream.end();
    expect((await answer).trailers["grpc-status"]).toBe("0");
  });

  it("is cut over HTTP/1.1 while its head is incomplete", async () => {
    await using endpoint = echoEndpoint({ limits: { headersTimeoutMs: 200 } });
    const { port } = await endpoint.listen();
    const socket = connect(port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nhost: localhost\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toContain("408");
    await once(socket, "close");
  });
});

function echoEndpoint(options: Omit<EndpointOptions, "services">): Endpoint {
  return createEndpoint({
    ...options,
    services: [
      (router) =>
        router.service(CrabCodeService, {
          getAgent: ({ agentId }) => ({ agentId: `length ${agentId.length}` }),
          cancelAgent: () => ({}),
          async *sendMessage({ text }) {
            yield { payloadJson: text };
          },
        }),
    ],
  });
}

/** A text whose GetAgentRequest is exactly so large: one byte of tag, three of length. */
function textOfMessageBytes(bytes: number): string {
  return "x".repeat(bytes - 4);
}

function messageBytes(textBytes: number): Buffer {
  const request = create(SendMessageRequestSchema, { text: "x".repeat(textBytes) });
  return envelope(toBinary(SendMessageRequestSchema, request));
}

async function expectCode(promise: Promise<unknown>, code: Code): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => ConnectError.from(thrown),
  );
  expect(error?.code, error?.message).toBe(code);
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
