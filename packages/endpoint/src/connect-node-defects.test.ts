import { once } from "node:events";
import { constants, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { CrabCodeService, SendMessageRequestSchema } from "@trivium/proto/crabcode";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";

// What connect-node 2.3.0 does as a server, beside what this endpoint does. The handlers left behind by a lost reader
// are in vanish.test.ts; what its client does is in @trivium/rpc.

const SEND = "/crabcode.CrabCodeService/SendMessage";
const KIB = 1024;

describe.each([
  ["connect-node", plainServer],
  ["the endpoint", ourServer],
])("%s", (name, listen) => {
  const isOurs = name === "the endpoint";

  afterEach(() => void vi.restoreAllMocks());

  it(`compresses ${isOurs ? "nothing on loopback" : "from 1 KiB on"} for a client that takes gzip`, async () => {
    await using server = await listen(echo);
    await using client = await rawHttp2(server.url);
    const stream = openCall(client.session, SEND, { "grpc-accept-encoding": "gzip" });
    stream.end(request("x".repeat(64 * KIB)));
    const { headers, body } = await answerOf(stream);
    expect(headers["grpc-encoding"]).toBe(isOurs ? undefined : "gzip");
    expect(body[0]).toBe(isOurs ? 0 : 1);
    expect(body.byteLength > 64 * KIB).toBe(isOurs);
  });

  it(`${isOurs ? "refuses" : "inflates"} a bomb of 32 MiB by default`, async () => {
    await using server = await listen(echoLength);
    await using client = await rawHttp2(server.url);
    const stream = openCall(client.session, SEND, { "grpc-encoding": "gzip" });
    const message = toBinary(
      SendMessageRequestSchema,
      create(SendMessageRequestSchema, { text: "x".repeat(32 * KIB * KIB) }),
    );
    stream.end(envelope(gzipSync(message), 1));
    const { headers, trailers } = await answerOf(stream);
    expect(headers["grpc-status"] ?? trailers["grpc-status"]).toBe(isOurs ? "8" : "0");
  });

  it(`writes ${isOurs ? "nothing" : "a stack"} to the console when a client resets a call with an error`, async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    const finished = Promise.withResolvers<void>();
    await using server = await listen((router) =>
      router.service(CrabCodeService, {
        async *sendMessage() {
          try {
            for (;;) yield { payloadJson: "x".repeat(64 * KIB) };
          } finally {
            finished.resolve();
          }
        },
      }),
    );
    await using client = await rawHttp2(server.url);
    const stream = openCall(client.session, SEND);
    stream.end(request("go"));
    await once(stream, "response");
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    await finished.promise;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(printed.mock.calls.length).toBe(isOurs ? 0 : 1);
  });
});

describe("with compression asked for on loopback the endpoint", () => {
  it.each([
    ["compresses messages from 16 KiB on", 64 * KIB, true],
    ["leaves smaller ones as they are", 15 * KIB, false],
  ])("%s", async (_what, bytes, isCompressed) => {
    await using endpoint = createEndpoint({ services: [echo], compression: { onLoopback: true } });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, SEND, { "grpc-accept-encoding": "gzip" });
    stream.end(request("x".repeat(bytes)));
    const { headers, body } = await answerOf(stream);
    expect(headers["grpc-encoding"]).toBe("gzip");
    expect(body[0]).toBe(isCompressed ? 1 : 0);
  });

  it("understands gzip of any size", async () => {
    await using endpoint = createEndpoint({ services: [echoLength] });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    for (const bytes of [0, 10, 200 * KIB]) {
      const stream = openCall(client.session, SEND, { "grpc-encoding": "gzip" });
      // Random enough to stay above the size that is inflated on this thread.
      const text = Array.from({ length: bytes / 2 }, (_, index) =>
        ((index * 2_654_435_761) >>> 7).toString(36).slice(-2),
      ).join("");
      const message = toBinary(SendMessageRequestSchema, create(SendMessageRequestSchema, { text }));
      stream.end(envelope(gzipSync(message), 1));
      const { body, trailers } = await answerOf(stream);
      expect(trailers["grpc-status"]).toBe("0");
      expect(body.toString()).toContain(String(text.length));
    }
  });
});

function echo(router: ConnectRouter): void {
  router.service(CrabCodeService, {
    async *sendMessage({ text }) {
      yield { payloadJson: text };
    },
  });
}

function echoLength(router: ConnectRouter): void {
  router.service(CrabCodeService, {
    async *sendMessage({ text }) {
      yield { payloadJson: String(text.length) };
    },
  });
}

function request(text: string): Buffer {
  return envelope(toBinary(SendMessageRequestSchema, create(SendMessageRequestSchema, { text })));
}

type Listening = { url: string } & AsyncDisposable;

async function ourServer(routes: (router: ConnectRouter) => void): Promise<Listening> {
  const endpoint = createEndpoint({ services: [routes] });
  const { url } = await endpoint.listen();
  return { url, [Symbol.asyncDispose]: () => endpoint.close() };
}

async function plainServer(routes: (router: ConnectRouter) => void): Promise<Listening> {
  const server = createServer(connectNodeAdapter({ routes }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}
