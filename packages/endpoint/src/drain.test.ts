import { once } from "node:events";
import { connect } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { abortable } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@trivium/proto/health";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";

const protocols = [
  ["gRPC", { protocol: "grpc" }],
  ["gRPC-Web over HTTP/1.1", { protocol: "grpc-web", httpVersion: "1.1" }],
  ["Connect over HTTP/2", { protocol: "connect" }],
  ["Connect over HTTP/1.1", { protocol: "connect", httpVersion: "1.1" }],
] as const;

describe("draining", () => {
  it.each(protocols)("lets a call finish over %s", async (_name, options) => {
    const { endpoint, release, started } = slowEndpoint(new ManualClock());
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url, ...options });
    const call = createClient(CrabCodeService, transport).getAgent({ agentId: "a" });
    await started;
    const drained = endpoint.drain();
    release();
    expect((await call).agentId).toBe("a");
    await drained;
    expect(endpoint.stats()).toMatchObject({
      activeCalls: 0,
      connections: { http1: 0, http2: 0, pending: 0 },
    });
  });

  it.each(protocols)("is over with the last stream that began before it, over %s", async (_name, options) => {
    const { endpoint, release } = slowEndpoint(new ManualClock());
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url, ...options });
    const stream = createClient(CrabCodeService, transport)
      .sendMessage({ text: "x" })
      [Symbol.asyncIterator]();
    await stream.next();
    const drained = endpoint.drain();
    release();
    expect((await stream.next()).done).toBe(true);
    await drained;
    expect(endpoint.stats().connections).toEqual({ http1: 0, http2: 0, pending: 0 });
  });

  it("answers every request that a client over HTTP/1.1 sent at once", async () => {
    const gates = { stream: Promise.withResolvers<void>(), unary: Promise.withResolvers<void>() };
    const endpoint = createEndpoint({
      clock: new ManualClock(),
      services: [
        (router) =>
          router.service(CrabCodeService, {
            async getAgent({ agentId }) {
              await gates.unary.promise;
              return { agentId };
            },
            async *sendMessage() {
              yield { payloadJson: "first" };
              await gates.stream.promise;
            },
          }),
      ],
    });
    const { port } = await endpoint.listen();
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    const closed = once(socket, "close");
    const frame = envelope(Buffer.from("{}"));
    const head = (method: string, type: string, length: number): string =>
      `POST /crabcode.CrabCodeService/${method} HTTP/1.1\r\nhost: localhost\r\n` +
      `content-type: application/${type}\r\ncontent-length: ${length}\r\n\r\n`;
    socket.write(head("SendMessage", "connect+json", frame.byteLength));
    socket.write(frame);
    socket.write(`${head("GetAgent", "json", 15)}{"agentId":"a"}`);
    const until = async (condition: () => boolean): Promise<void> => {
      while (!condition()) await new Promise((resolve) => setImmediate(resolve));
    };
    await until(() => endpoint.stats().activeCalls === 2 && text.includes("first"));
    const drained = endpoint.drain();
    gates.stream.resolve();
    await until(() => endpoint.stats().activeCalls === 1);
    gates.unary.resolve();
    await closed;
    await drained;
    expect(text).toContain('{"agentId":"a"}');
  });

  it.each(protocols)(
    "ends what still runs at the deadline with UNAVAILABLE over %s",
    async (_name, options) => {
      const clock = new ManualClock();
      const { endpoint, started, reason } = slowEndpoint(clock);
      const { url } = await endpoint.listen();
      await using transport = createNodeTransport({ baseUrl: url, ...options });
      const unary = failureOf(createClient(CrabCodeService, transport).getAgent({ agentId: "a" }));
      const stream = failureOf(collect(createClient(CrabCodeService, transport).sendMessage({ text: "x" })));
      await started;
      while (endpoint.stats().activeCalls < 2) await new Promise((resolve) => setImmediate(resolve));
      const drained = endpoint.drain(10_000);
      await clock.advance(9_999);
      expect(endpoint.stats().activeCalls).toBe(2);
      await clock.advance(1);
      expect((await unary).code).toBe(Code.Unavailable);
      expect((await stream).code).toBe(Code.Unavailable);
      expect((await reason).code).toBe(Code.Unavailable);
      await clock.advance(500);
      await drained;
    },
  );

  it("cuts handlers that do not listen half a second later, with a status", async () => {
    const clock = new ManualClock();
    const started = Promise.withResolvers<void>();
    const endpoint = createEndpoint({
      clock,
      services: [
        (router) =>
          router.service(CrabCodeService, {
            getAgent: () => {
              started.resolve();
              return new Promise<never>(() => {});
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const call = failureOf(createClient(CrabCodeService, transport).getAgent({}));
    await started.promise;
    const drained = endpoint.drain(1_000);
    await clock.advance(1_200);
    expect((await call).code).toBe(Code.Unavailable);
    await clock.advance(500);
    await drained;
  });

  it("says NOT_SERVING to watchers before it says GOAWAY, and readyz says 503", async () => {
    const clock = new ManualClock();
    const { endpoint } = slowEndpoint(clock);
    const { url, port } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const watch = createClient(Health, transport).watch({})[Symbol.asyncIterator]();
    expect((await watch.next()).value?.status).toBe(Status.SERVING);
    // Kept alive with a request that has begun, so that the drain does not close it.
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /readyz HTTP/1.1\r\nhost: localhost\r\n");
    await once(socket, "connect");
    await fetch(`${url}/healthz`);
    const drained = endpoint.drain(1_000);
    expect((await watch.next()).value?.status).toBe(Status.NOT_SERVING);
    socket.write("\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 503 .*connection: close/is);
    await clock.advance(1_000);
    await clock.advance(500);
    await drained;
  });

  it("answers a call that races it, or leaves it retryable: over HTTP/1.1 a status, over HTTP/2 a refused stream", async () => {
    const clock = new ManualClock();
    const { endpoint, started } = slowEndpoint(clock);
    const { url, port } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const running = openCall(client.session, "/crabcode.CrabCodeService/GetAgent");
    running.end(envelope(new Uint8Array()));
    await started;
    const socket = connect(port, "127.0.0.1");
    socket.write(
      "POST /crabcode.CrabCodeService/GetAgent HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n",
    );
    await once(socket, "connect");
    await fetch(`${url}/healthz`);
    const drained = endpoint.drain(1_000);
    const racing = openCall(client.session, "/crabcode.CrabCodeService/GetAgent");
    racing.end(envelope(new Uint8Array()));
    expect((await answerOf(racing)).rstCode).toBe(7);
    socket.write("content-length: 2\r\n\r\n{}");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 503 .*unavailable/is);
    await clock.advance(1_000);
    await clock.advance(500);
    await drained;
  });

  it("refuses new connections and ends silent ones at once", async () => {
    const { endpoint } = slowEndpoint(new ManualClock());
    const { port } = await endpoint.listen();
    const silent = connect(port, "127.0.0.1");
    silent.on("error", () => {});
    await once(silent, "connect");
    await fetch(`http://127.0.0.1:${port}/healthz`);
    const gone = once(silent, "close");
    await endpoint.drain();
    await gone;
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  });

  it("is hurried by close", async () => {
    const { endpoint, started } = slowEndpoint(new ManualClock());
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const call = failureOf(createClient(CrabCodeService, transport).getAgent({}));
    await started;
    const drained = endpoint.drain(1_000_000);
    await endpoint.close();
    await drained;
    expect((await call).code).toBe(Code.Unavailable);
  });

  it("of an endpoint that never listened is over at once", async () => {
    await createEndpoint({ services: [] }).drain();
  });
});

/** Handlers that wait until they are released or told to stop. */
function slowEndpoint(clock: ManualClock): {
  endpoint: Endpoint;
  started: Promise<void>;
  release: () => void;
  reason: Promise<ConnectError>;
} {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const reason = Promise.withResolvers<ConnectError>();
  const endpoint = createEndpoint({
    clock,
    services: [
      (router) =>
        router.service(CrabCodeService, {
          async getAgent({ agentId }, { signal }) {
            started.resolve();
            signal.addEventListener("abort", () => reason.resolve(signal.reason as ConnectError));
            await abortable(released.promise, signal);
            return { agentId };
          },
          async *sendMessage(_request, { signal }) {
            yield { payloadJson: "first" };
            await abortable(released.promise, signal);
          },
        }),
    ],
  });
  return { endpoint, started: started.promise, release: released.resolve, reason: reason.promise };
}

async function failureOf(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await promise;
  } catch (thrown) {
    return ConnectError.from(thrown);
  }
  throw new Error("the call did not fail");
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
