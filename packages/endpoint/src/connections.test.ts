import { once } from "node:events";
import { connect } from "node:net";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";

describe("a connection", () => {
  it("that is idle is closed on both protocols", async () => {
    await using endpoint = createEndpoint({ services: [], limits: { idleTimeoutMs: 50 } });
    const { url, port } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const closed = once(client.session, "close");
    const stream = openCall(client.session, "/grpc.health.v1.Health/Check");
    stream.end(envelope(new Uint8Array()));
    await answerOf(stream);
    await closed;
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await once(socket, "data");
    await once(socket, "close");
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
