import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { Code, type ConnectError } from "@connectrpc/connect";
import { sleep } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";
import { relayTo } from "./testing/relay.ts";
import { selfSigned } from "./testing/self-signed.ts";
import { shapesService } from "./testing/shapes.ts";

const tls = selfSigned("server");

const carriers = [
  ["clear text", undefined],
  ["TLS", tls],
] as const;

describe("an HTTP/2 connection with an open call", () => {
  it.each(carriers)("is probed and kept while it answers, over %s", async (_name, identity) => {
    await using endpoint = createEndpoint({
      services: [],
      tls: identity,
      limits: { idleTimeoutMs: 50, pingTimeoutMs: 200 },
    });
    const { port } = await endpoint.listen();
    await using relay = await relayTo(port);
    await using client = await rawHttp2(urlOf(relay, identity), { rejectUnauthorized: false });
    const stream = openCall(client.session, "/grpc.health.v1.Health/Watch");
    stream.end(envelope(new Uint8Array()));
    await once(stream, "data");
    for (let pings = 0; pings < 3; pings++) await once(client.session, "ping");
    expect(stream.closed).toBe(false);
    relay.swallow();
    await waitFor(() => endpoint.stats().connections.http2 === 0);
    expect(endpoint.stats().activeCalls).toBe(0);
  });

  it.each(carriers)(
    "into a black hole is found though the call writes all the time, over %s",
    async (_name, identity) => {
      const clock = new ManualClock();
      const finished = Promise.withResolvers<ConnectError>();
      await using endpoint = createEndpoint({
        clock,
        tls: identity,
        services: [
          shapesService({
            async *download(_request, { signal }) {
              try {
                for (;;) {
                  yield { value: new Uint8Array(1) };
                  await sleep(clock, 10_000, signal);
                }
              } finally {
                finished.resolve(signal.reason as ConnectError);
              }
            },
          }),
        ],
      });
      const { port } = await endpoint.listen();
      await using relay = await relayTo(port);
      await using client = await rawHttp2(urlOf(relay, identity), { rejectUnauthorized: false });
      const stream = openCall(client.session, "/test.Shapes/Download");
      stream.end(envelope(new Uint8Array()));
      await once(stream, "data");
      relay.swallow();
      // Idle time, a quarter of it until it is noticed that something had come before, and the time for the ping.
      await clock.advance(65_000 + 65_000 / 4 + 20_000);
      expect((await finished.promise).code).toBe(Code.Aborted);
      await waitFor(() => endpoint.stats().connections.http2 === 0);
    },
  );
});

describe("an HTTP/2 connection without calls", () => {
  it("is cut when it is closed for its silence and its client does not close its side", async () => {
    const clock = new ManualClock();
    await using endpoint = createEndpoint({ clock, services: [] });
    const { port } = await endpoint.listen();
    await using relay = await relayTo(port);
    await using client = await rawHttp2(relay.url);
    const call = openCall(client.session, "/grpc.health.v1.Health/Check");
    call.end(envelope(new Uint8Array()));
    await answerOf(call);
    await waitFor(() => endpoint.stats().activeCalls === 0);
    relay.swallow();
    await clock.advance(65_000 + 65_000 / 4);
    expect(endpoint.stats().connections.http2).toBe(1);
    await clock.advance(20_000);
    await waitFor(() => endpoint.stats().connections.http2 === 0);
  });
});

describe("an HTTP/1.1 connection", () => {
  // The table of the kernel is the only place that tells.
  it.runIf(process.platform === "linux")("has TCP's keep-alive on", async () => {
    await using endpoint = createEndpoint({ services: [] });
    const { port } = await endpoint.listen();
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await once(socket, "data");
    const localPort = socket.localPort ?? 0;
    // Delayed acknowledgements use the same column for a moment.
    await waitFor(() => kernelTimerOf(port, localPort).startsWith("02:"));
    const hundredths = Number.parseInt(kernelTimerOf(port, localPort).slice(3), 16);
    expect(hundredths).toBeGreaterThan(60 * 100);
    expect(hundredths).toBeLessThanOrEqual(65 * 100);
    socket.destroy();
  });
});

/** Kind and remaining time of the timer of a TCP connection on 127.0.0.1. */
function kernelTimerOf(localPort: number, remotePort: number): string {
  const hex = (value: number): string => value.toString(16).toUpperCase().padStart(4, "0");
  const row = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .find(
      ([, local, remote]) =>
        local === `0100007F:${hex(localPort)}` && remote === `0100007F:${hex(remotePort)}`,
    );
  return row?.[5] ?? "";
}

function urlOf(relay: { readonly url: string }, identity: unknown): string {
  return identity === undefined ? relay.url : relay.url.replace("http:", "https:");
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
