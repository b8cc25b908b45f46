import { once } from "node:events";
import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";
import { shapesService } from "./testing/shapes.ts";

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

  it("has one time for the last bytes of a finished handler, however little of them it takes", async () => {
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
    await clock.advance(30_000);
    const read = once(stream, "data");
    client.session.settings({ initialWindowSize: 1_024 });
    await read;
    await clock.advance(29_999);
    expect(stream.closed).toBe(false);
    await clock.advance(1);
    await closed;
    expect(stream.rstCode).toBe(8);
  });
});
