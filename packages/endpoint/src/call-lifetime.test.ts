import { once } from "node:events";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type HandlerContext } from "@connectrpc/connect";
import { abortReason, sleep, systemClock } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { CrabCodeService, GetAgentRequestSchema } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";
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
        // Long enough for the handler to have set its header on a busy machine.
        limits: { headerGraceMs: 250 },
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

  it("wait longer for the first message of a method that wants it", async () => {
    const clock = new ManualClock();
    const go = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    await using endpoint = createEndpoint({
      clock,
      methodLimits: { "test.Shapes/Download": { headerGraceMs: 5_000 } },
      services: [
        shapesService({
          async *download({ value }, { responseHeader }) {
            started.resolve();
            await go.promise;
            responseHeader.set("x-late", "yes");
            yield { value };
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/test.Shapes/Download");
    const answer = answerOf(stream);
    stream.end(envelope(new Uint8Array()));
    await started.promise;
    await clock.advance(4_999);
    go.resolve();
    expect((await answer).headers["x-late"]).toBe("yes");
  });
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
