import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { ManualClock } from "@trivium/core/testing";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@trivium/proto/health";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { recordingLogger } from "./testing/recording-logger.ts";
import { selfSigned } from "./testing/self-signed.ts";

const server = selfSigned("server");

const protocols = [
  ["gRPC", { protocol: "grpc" }],
  ["gRPC-Web over HTTP/1.1", { protocol: "grpc-web", httpVersion: "1.1" }],
  ["Connect over HTTP/2", { protocol: "connect" }],
  ["Connect over HTTP/1.1", { protocol: "connect", httpVersion: "1.1" }],
] as const;

describe("with TLS the port", () => {
  it.each(protocols)("serves %s", async (_name, options) => {
    await using endpoint = createEndpoint({ services: [], tls: server });
    const { url } = await endpoint.listen();
    expect(url).toMatch(/^https:/);
    await using transport = createNodeTransport({ baseUrl: url, tls: { ca: server.cert }, ...options });
    expect((await createClient(Health, transport).check({})).status).toBe(Status.SERVING);
  });

  it("refuses clear text with a hint, in the answer and once in the log", async () => {
    const logger = recordingLogger();
    await using endpoint = createEndpoint({ services: [], tls: server, logger });
    const { port } = await endpoint.listen();
    for (let count = 0; count < 2; count++) {
      const socket = connect(port, "127.0.0.1");
      socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1.1 400 .*https/s);
      const { length } = answer.toString().split("\r\n\r\n")[1]!;
      expect(answer.toString()).toContain(`content-length: ${length}\r\n`);
      await once(socket, "close");
    }
    expect(logger.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  it("turns away clients without a certificate of the client authority, when there is one", async () => {
    const client = selfSigned("client");
    await using endpoint = createEndpoint({ services: [], tls: { ...server, clientCa: client.cert } });
    const { url } = await endpoint.listen();
    await using known = createNodeTransport({ baseUrl: url, tls: { ca: server.cert, ...client } });
    expect((await createClient(Health, known).check({})).status).toBe(Status.SERVING);
    await using unknown = createNodeTransport({ baseUrl: url, tls: { ca: server.cert } });
    await expect(createClient(Health, unknown).check({})).rejects.toThrow();
    await using forged = createNodeTransport({
      baseUrl: url,
      tls: { ca: server.cert, ...selfSigned("client") },
    });
    await expect(createClient(Health, forged).check({})).rejects.toThrow();
  });

  it("gives up on an HTTP/2 client that says nothing after the handshake", async () => {
    const clock = new ManualClock();
    await using endpoint = createEndpoint({ services: [], tls: server, clock });
    const { port } = await endpoint.listen();
    const socket = connectTls({ port, host: "127.0.0.1", ca: server.cert, ALPNProtocols: ["h2"] });
    socket.on("error", () => {});
    await once(socket, "secureConnect");
    while (endpoint.stats().connections.http2 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = once(socket, "close");
    socket.resume();
    await clock.advance(10_000);
    await closed;
  });
});

describe("a drain with TLS", () => {
  it("does not wait for a client over HTTP/1.1 that has asked for nothing", async () => {
    await using endpoint = createEndpoint({ services: [], tls: server, clock: new ManualClock() });
    const { port } = await endpoint.listen();
    const socket = connectTls({ port, host: "127.0.0.1", ca: server.cert, ALPNProtocols: ["http/1.1"] });
    socket.on("error", () => {});
    socket.resume();
    while (endpoint.stats().connections.http1 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = once(socket, "close");
    await endpoint.drain();
    await closed;
  });

  it.each(["h2", "http/1.1"])(
    "does not wait for a client whose handshake ends after its begin, %s",
    async (name) => {
      await using endpoint = createEndpoint({ services: [], tls: server, clock: new ManualClock() });
      const { port } = await endpoint.listen();
      await using relay = await heldAfterHello(port);
      const socket = connectTls({
        port: relay.port,
        host: "127.0.0.1",
        ca: server.cert,
        ALPNProtocols: [name],
      });
      socket.on("error", () => {});
      await once(socket, "secureConnect");
      if (name === "h2") {
        const session = connectHttp2("https://localhost", { createConnection: () => socket });
        session.on("error", () => {});
      } else {
        socket.resume();
      }
      const closed = once(socket, "close");
      const drained = endpoint.drain();
      relay.release();
      await drained;
      await closed;
    },
  );
});

/** A relay that holds what a client sends after its first bytes. */
async function heldAfterHello(port: number): Promise<{ port: number; release(): void } & AsyncDisposable> {
  const pairs: [Socket, Socket][] = [];
  const relay = createServer((inner) => {
    const outer = connect(port, "127.0.0.1");
    for (const socket of [inner, outer]) socket.on("error", () => {});
    pairs.push([inner, outer]);
    inner.once("data", (hello: Buffer) => {
      inner.pause();
      outer.write(hello);
    });
    outer.pipe(inner);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return {
    port: (relay.address() as AddressInfo).port,
    release() {
      for (const [inner, outer] of pairs) inner.pipe(outer);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of pairs.flat()) socket.destroy();
      relay.close();
      await once(relay, "close");
    },
  };
}

describe("without TLS the port", () => {
  it("answers a TLS client with an alert and one line in the log", async () => {
    const logger = recordingLogger();
    await using endpoint = createEndpoint({ services: [], logger });
    const { port } = await endpoint.listen();
    for (let count = 0; count < 2; count++) {
      const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
      const [error] = (await once(socket, "error")) as [Error & { code: string }];
      expect(error.code).toBe("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
    }
    expect(logger.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    expect(endpoint.metrics.render()).toContain(
      'trivium_connection_errors_total{code="tls-on-cleartext-port"} 2',
    );
  });
});
