import { once } from "node:events";
import { connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type HandlerContext } from "@connectrpc/connect";
import { abortReason, sleep, systemClock } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { CrabCodeService, GetAgentRequestSchema } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";
import { relayTo } from "./testing/relay.ts";
import { shapesService } from "./testing/shapes.ts";

const protocols = [
  ["gRPC", { protocol: "grpc" }],
  ["gRPC-Web over HTTP/2", { protocol: "grpc-web" }],
  ["gRPC-Web over HTTP/1.1", { protocol: "grpc-web", httpVersion: "1.1" }],
  ["Connect over HTTP/2", { protocol: "connect" }],
  ["Connect over HTTP/1.1", { protocol: "connect", httpVersion: "1.1" }],
] as const;

describe("response headers of a streaming call", () => {
  it.each(protocols)(
    "arrive without a first message when the handler waits, over %s",
    async (_name, options) => {
      const go = Promise.withResolvers<void>();
      await using endpoint = createEndpoint({
        limits: { headerGraceMs: 20 },
        services: [
          (router) =>
            router.service(CrabCodeService, {
              async *subscribeEvents(_request, { responseHeader, responseTrailer }) {
                responseHeader.set("crabcode-session-id", "s-1");
                await go.promise;
                responseTrailer.set("x-last", "word");
                yield { payloadJson: "late" };
              },
            }),
        ],
      });
      const { url } = await endpoint.listen();
      await using transport = createNodeTransport({ baseUrl: url, ...options });
      const header = Promise.withResolvers<Headers>();
      const trailer = Promise.withResolvers<Headers>();
      const events = createClient(CrabCodeService, transport)
        .subscribeEvents({}, { onHeader: header.resolve, onTrailer: trailer.resolve })
        [Symbol.asyncIterator]();
      const first = events.next();
      expect((await header.promise).get("crabcode-session-id")).toBe("s-1");
      go.resolve();
      expect((await first).value?.payloadJson).toBe("late");
      expect((await events.next()).done).toBe(true);
      expect((await trailer.promise).get("x-last")).toBe("word");
    },
  );

  it.each(protocols)(
    "do not keep a later failure from arriving as a status over %s",
    async (_name, options) => {
      const go = Promise.withResolvers<void>();
      await using endpoint = createEndpoint({
        limits: { headerGraceMs: 20 },
        services: [
          (router) =>
            router.service(CrabCodeService, {
              // oxlint-disable-next-line require-yield
              async *subscribeEvents() {
                await go.promise;
                throw new ConnectError("no such session", Code.NotFound);
              },
            }),
        ],
      });
      const { url } = await endpoint.listen();
      await using transport = createNodeTransport({ baseUrl: url, ...options });
      const call = createClient(CrabCodeService, transport).subscribeEvents(
        {},
        { onHeader: () => go.resolve() },
      );
      await expect(call[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: Code.NotFound });
    },
  );
});

describe("a deadline", () => {
  it.each(protocols)(
    "ends a call whose handler does not listen within a second over %s",
    async (_name, options) => {
      await using endpoint = createEndpoint({
        services: [
          (router) =>
            router.service(CrabCodeService, {
              getAgent: () => new Promise<never>(() => {}),
              async *sendMessage() {
                yield { payloadJson: "first" };
                await new Promise<never>(() => {});
              },
            }),
        ],
      });
      const { url } = await endpoint.listen();
      const contentType = {
        grpc: "application/grpc",
        "grpc-web": "application/grpc-web+proto",
        connect: "application/proto",
      };
      const isConnect = options.protocol === "connect";
      const startMs = performance.now();
      // Not through a client, which would end the call by its own clock.
      if ("httpVersion" in options) {
        const body = toBinary(GetAgentRequestSchema, create(GetAgentRequestSchema));
        const response = await fetch(`${url}/crabcode.CrabCodeService/GetAgent`, {
          method: "POST",
          headers: {
            "content-type": contentType[options.protocol],
            ...(isConnect ? { "connect-timeout-ms": "100" } : { "grpc-timeout": "100m" }),
          },
          body: isConnect ? body : envelope(body),
        });
        if (isConnect) expect(response.status).toBe(504);
        else expect(response.headers.get("grpc-status")).toBe(String(Code.DeadlineExceeded));
      } else {
        await using client = await rawHttp2(url);
        const stream = openCall(client.session, "/crabcode.CrabCodeService/SendMessage", {
          "content-type": isConnect ? "application/connect+proto" : contentType[options.protocol],
          ...(isConnect ? { "connect-timeout-ms": "100" } : { "grpc-timeout": "100m" }),
        });
        stream.end(envelope(new Uint8Array()));
        const { body, trailers } = await answerOf(stream);
        if (options.protocol === "grpc") expect(trailers["grpc-status"]).toBe(String(Code.DeadlineExceeded));
        else expect(body.toString()).toMatch(isConnect ? /"code":"deadline_exceeded"/ : /grpc-status: 4/);
      }
      expect(performance.now() - startMs).toBeLessThan(1_100);
    },
  );

  it("of more than a month is no deadline of a millisecond", async () => {
    await using endpoint = createEndpoint({ services: [] });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/grpc.health.v1.Health/Check", { "grpc-timeout": "99999999S" });
    stream.end(envelope(new Uint8Array()));
    expect((await answerOf(stream)).trailers["grpc-status"]).toBe("0");
  });

  it("reaches a handler that listens as the reason of its signal", async () => {
    const reason = Promise.withResolvers<ConnectError>();
    await using endpoint = createEndpoint({
      services: [
        (router) =>
          router.service(CrabCodeService, {
            async getAgent(_request, { signal }) {
              await sleep(systemClock, 10_000, signal).catch(() => {});
              reason.resolve(signal.reason as ConnectError);
              throw abortReason(signal);
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/crabcode.CrabCodeService/GetAgent", { "grpc-timeout": "50m" });
    stream.end(envelope(new Uint8Array()));
    expect((await answerOf(stream)).headers["grpc-status"]).toBe(String(Code.DeadlineExceeded));
    expect((await reason.promise).code).toBe(Code.DeadlineExceeded);
  });
});

describe("a client that does not read", () => {
  it("loses its call after the stall time, the handler is finished, and memory stays flat", async () => {
    const clock = new ManualClock();
    const finished = Promise.withResolvers<ConnectError>();
    let yielded = 0;
    await using endpoint = createEndpoint({
      clock,
      services: [
        shapesService({
          async *download(_request, { signal }) {
            try {
              for (;;) {
                yielded += 64 * 1024;
                yield { value: Buffer.alloc(64 * 1024) };
              }
            } finally {
              finished.resolve(signal.reason as ConnectError);
            }
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url, { windowBytes: 0 });
    const stream = openCall(client.session, "/test.Shapes/Download");
    const closed = once(stream, "close");
    stream.end(envelope(toBinary(BytesValueSchema, create(BytesValueSchema))));
    for (let last = -1; yielded === 0 || yielded !== last; ) {
      last = yielded;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(yielded).toBeLessThan(1024 * 1024);
    await clock.advance(59_999);
    expect(stream.closed).toBe(false);
    await clock.advance(1);
    expect((await finished.promise).code).toBe(Code.ResourceExhausted);
    await closed;
    expect(stream.rstCode).toBe(8);
    expect(endpoint.metrics.render()).toMatch(/trivium_rpc_write_stalls_total\{.*\} 1/);
  });

  it("keeps a call of a method whose stall time is infinite, until it is gone", async () => {
    const clock = new ManualClock();
    const started = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<ConnectError>();
    await using endpoint = createEndpoint({
      clock,
      limits: { idleTimeoutMs: 100_000_000 },
      methodLimits: { "test.Shapes/Download": { writeStallMs: Number.POSITIVE_INFINITY } },
      services: [
        shapesService({
          async *download(_request, { signal }) {
            try {
              for (;;) {
                started.resolve();
                yield { value: Buffer.alloc(64 * 1024) };
              }
            } finally {
              finished.resolve(signal.reason as ConnectError);
            }
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url, { windowBytes: 0 });
    const stream = openCall(client.session, "/test.Shapes/Download");
    stream.end(envelope(toBinary(BytesValueSchema, create(BytesValueSchema))));
    await started.promise;
    await clock.advance(3_600_000);
    expect(stream.closed).toBe(false);
    stream.close(8);
    expect((await finished.promise).code).toBe(Code.Canceled);
  });

  it("cannot hold the last bytes of a finished handler for ever", async () => {
    const clock = new ManualClock();
    await using endpoint = createEndpoint({
      clock,
      services: [shapesService({ look: () => ({ value: Buffer.alloc(30 * 1024) }) })],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url, { windowBytes: 0 });
    const stream = openCall(client.session, "/test.Shapes/Look");
    const closed = once(stream, "close");
    const responded = once(stream, "response");
    stream.end(envelope(new Uint8Array()));
    await responded;
    await clock.advance(60_000);
    await closed;
    expect(endpoint.stats().activeCalls).toBe(0);
  });

  it("may be slow as long as it reads something now and then", async () => {
    const clock = new ManualClock();
    await using endpoint = createEndpoint({
      clock,
      limits: { idleTimeoutMs: 1_000_000 },
      services: [
        shapesService({
          async *download() {
            for (let count = 0; count < 8; count++) yield { value: Buffer.alloc(256 * 1024) };
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/test.Shapes/Download");
    stream.end(envelope(new Uint8Array()));
    let bytes = 0;
    const answer = new Promise<void>((resolve) => void stream.once("close", () => resolve()));
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
      stream.pause();
      void clock.advance(1_000).then(() => stream.resume());
    });
    await answer;
    expect(bytes).toBeGreaterThan(8 * 256 * 1024);
  });
});

describe("a handler", () => {
  it("that fails after its client has gone says nothing on the console and is counted", async () => {
    const gone = Promise.withResolvers<void>();
    await using endpoint = createEndpoint({
      services: [
        shapesService({
          async *download(_request, { signal }) {
            try {
              for (;;) yield { value: Buffer.alloc(64 * 1024) };
            } finally {
              if (signal.aborted) gone.resolve();
              // oxlint-disable-next-line no-unsafe-finally
              throw new Error("clean-up failed");
            }
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/test.Shapes/Download");
    stream.end(envelope(new Uint8Array()));
    await once(stream, "response");
    stream.close(8);
    await gone.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(endpoint.metrics.render()).toContain(
      'trivium_rpc_swallowed_errors_total{method="/test.Shapes/Download"} 1',
    );
  });

  it("sees a cancel as canceled and a lost connection as aborted, also while it waits for something else", async () => {
    const contexts: HandlerContext[] = [];
    await using endpoint = createEndpoint({
      services: [
        shapesService({
          look: async (_request, context) => {
            contexts.push(context);
            await sleep(systemClock, 60_000, context.signal);
            return { value: new Uint8Array() };
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    for (const leave of ["cancel", "lose"]) {
      await using client = await rawHttp2(url);
      const stream = openCall(client.session, "/test.Shapes/Look");
      stream.end(envelope(new Uint8Array()));
      const count = contexts.length;
      while (contexts.length === count) await new Promise((resolve) => setImmediate(resolve));
      const { signal } = contexts.at(-1)!;
      const aborted = once(signal, "abort");
      if (leave === "cancel") stream.close(8);
      else client.socket.destroy();
      await aborted;
    }
    expect(contexts.map(({ signal }) => (signal.reason as ConnectError).code)).toEqual([
      Code.Canceled,
      Code.Aborted,
    ]);
  });
});

describe("a connection", () => {
  it("that is idle is closed on both protocols", async () => {
    await using endpoint = createEndpoint({ services: [], limits: { idleTimeoutMs: 50 } });
    const { url, port } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/grpc.health.v1.Health/Check");
    stream.end(envelope(new Uint8Array()));
    await answerOf(stream);
    await once(client.session, "close");
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await once(socket, "data");
    await once(socket, "close");
  });

  it("with an open call is probed instead, and kept while it answers", async () => {
    await using endpoint = createEndpoint({ services: [], limits: { idleTimeoutMs: 50, pingTimeoutMs: 50 } });
    const { port } = await endpoint.listen();
    await using relay = await relayTo(port);
    await using client = await rawHttp2(relay.url);
    const stream = openCall(client.session, "/grpc.health.v1.Health/Watch");
    stream.end(envelope(new Uint8Array()));
    await once(stream, "data");
    for (let pings = 0; pings < 3; pings++) await once(client.session, "ping");
    expect(stream.closed).toBe(false);
    relay.swallow();
    while (endpoint.stats().connections.http2 > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(endpoint.stats().activeCalls).toBe(0);
  });

  it("of HTTP/2 that says FIN is forgotten, idle or not", async () => {
    await using endpoint = createEndpoint({ services: [] });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/grpc.health.v1.Health/Check");
    stream.end(envelope(new Uint8Array()));
    await answerOf(stream);
    expect(endpoint.stats().connections.http2).toBe(1);
    client.socket.end();
    while (endpoint.stats().connections.http2 > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("that says nothing is gone when its time is up", async () => {
    const clock = new ManualClock();
    await using endpoint = createEndpoint({ services: [], clock });
    const { port } = await endpoint.listen();
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    while (endpoint.stats().connections.pending === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = once(socket, "close");
    await clock.advance(10_000);
    socket.resume();
    await closed;
  });

  it("of HTTP/2 is told its limits and given a wide window", async () => {
    await using endpoint = createEndpoint({ services: [] });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const call = openCall(client.session, "/grpc.health.v1.Health/Check");
    call.end(envelope(new Uint8Array()));
    await answerOf(call);
    expect(client.session.remoteSettings).toMatchObject({
      maxConcurrentStreams: 1_000,
      maxHeaderListSize: 65_536,
      initialWindowSize: 256 * 1024,
    });
    expect(client.session.state.remoteWindowSize).toBeGreaterThan(15 * 1024 * 1024);
  });

  it("too many is closed at once, and counted", async () => {
    await using endpoint = createEndpoint({ services: [], limits: { maxConnections: 1 } });
    const { url, port } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const second = connect(port, "127.0.0.1");
    second.on("error", () => {});
    await once(second.resume(), "close");
    expect(endpoint.metrics.render()).toContain(
      'trivium_connection_errors_total{code="too-many-connections"} 1',
    );
    const call = openCall(client.session, "/grpc.health.v1.Health/Check");
    call.end(envelope(new Uint8Array()));
    expect((await answerOf(call)).trailers["grpc-status"]).toBe("0");
  });

  it("serves routes and RPCs side by side on one HTTP/2 session", async () => {
    await using endpoint = createEndpoint({ services: [] });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const call = openCall(client.session, "/grpc.health.v1.Health/Check");
    call.end(envelope(new Uint8Array()));
    const page = client.session.request({ ":path": "/metrics" });
    const [answer, metrics] = await Promise.all([answerOf(call), answerOf(page)]);
    expect(answer.trailers["grpc-status"]).toBe("0");
    expect(metrics.body.toString()).toContain("# TYPE trivium_connections gauge");
  });
});

describe("an uploading client", () => {
  it("may send a stream of messages and gets the answer", async () => {
    await using endpoint = createEndpoint({
      services: [
        shapesService({
          async upload(requests) {
            let bytes = 0;
            for await (const { value } of requests) bytes += value.byteLength;
            return { value: Buffer.from(String(bytes)) };
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/test.Shapes/Upload");
    const message = toBinary(BytesValueSchema, create(BytesValueSchema, { value: Buffer.alloc(100_000) }));
    for (let count = 0; count < 50; count++) stream.write(envelope(message));
    stream.end();
    const { body, trailers } = await answerOf(stream);
    expect(trailers["grpc-status"]).toBe("0");
    expect(body.toString()).toContain("5000000");
    expect(endpoint.stats().requestBytes).toBe(0);
  });
});
