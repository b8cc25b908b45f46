import { once } from "node:events";
import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type HandlerContext } from "@connectrpc/connect";
import { abortable } from "@trivium/core";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";
import { Shapes, shapesService } from "./testing/shapes.ts";

const KIB = 1024;

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

  it("may send more than the byte budget when no message is cut where its chunks are", async () => {
    await using endpoint = createEndpoint({
      limits: { readMaxBytes: 64 * KIB, connectionRequestBytes: 0, totalRequestBytes: 0 },
      services: [
        shapesService({
          async upload(requests) {
            let count = 0;
            for await (const _ of requests) count++;
            return { value: Buffer.from(String(count)) };
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/test.Shapes/Upload");
    const answer = answerOf(stream);
    const message = messageOf(10_007);
    stream.end(Buffer.concat(Array.from({ length: 200 }, () => message)));
    const { body, trailers } = await answer;
    expect(trailers["grpc-status"]).toBe("0");
    expect(body.toString()).toContain("200");
  });
});

describe("a call whose request is not read to its end", () => {
  const ends: [string, string, Record<string, string>, Buffer[]][] = [
    ["a message beyond the limit", "Look", {}, [envelope(Buffer.alloc(1_200 * KIB))]],
    [
      "a second message in a unary call",
      "Look",
      {},
      [envelope(Buffer.alloc(0)), envelope(Buffer.alloc(20_000))],
    ],
    [
      "two messages in gRPC-Web",
      "Look",
      { "content-type": "application/grpc-web+proto" },
      [envelope(Buffer.alloc(0)), envelope(Buffer.alloc(30_000))],
    ],
    [
      "a compressed flag for nothing",
      "Look",
      {},
      [envelope(Buffer.alloc(10), 1), envelope(Buffer.alloc(30_000))],
    ],
    ["a body beyond the limit", "Look", { "content-type": "application/proto" }, [Buffer.alloc(1_200 * KIB)]],
    [
      "an upload whose handler leaves its loop",
      "Upload",
      {},
      [messageOf(1_000), messageOf(60_000), messageOf(60_000)],
    ],
  ];

  it.each(ends)("leaves neither call nor connection behind: %s", async (...end) => {
    const [, method, headers, writes] = end;
    await using endpoint = leavingEndpoint();
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, `/test.Shapes/${method}`, headers);
    const answer = answerOf(stream);
    for (const bytes of writes) stream.write(bytes);
    stream.end();
    await answer;
    await nothingLeft(endpoint);
    client.session.close();
    await waitFor(() => endpoint.stats().connections.http2 === 0);
  });

  it("leaves nothing behind of a client of ours that sends too much", async () => {
    await using endpoint = leavingEndpoint();
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const client = createClient(Shapes, transport);
    const look = client["look"] as unknown as (request: { value: Uint8Array }) => Promise<unknown>;
    const failure: unknown = await look({ value: new Uint8Array(1_200 * KIB) }).catch(
      (thrown: unknown) => thrown,
    );
    expect(ConnectError.from(failure).code).toBe(Code.ResourceExhausted);
    await nothingLeft(endpoint);
  });

  it("is cancelled by a client that resets it with NO_ERROR while the handler reads nothing", async () => {
    const context = Promise.withResolvers<HandlerContext>();
    await using endpoint = createEndpoint({
      services: [
        shapesService({
          async upload(requests, handlerContext) {
            const first = requests[Symbol.asyncIterator]();
            await first.next();
            context.resolve(handlerContext);
            await abortable(new Promise(() => {}), handlerContext.signal);
            return { value: new Uint8Array() };
          },
        }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/test.Shapes/Upload");
    for (let count = 0; count < 3; count++) stream.write(messageOf(60_000));
    const { signal } = await context.promise;
    const aborted = once(signal, "abort");
    stream.close(0);
    await aborted;
    expect((signal.reason as ConnectError).code).toBe(Code.Canceled);
    await nothingLeft(endpoint);
  });
});

function leavingEndpoint(): Endpoint {
  return createEndpoint({
    limits: { readMaxBytes: 1024 * KIB },
    services: [
      shapesService({
        look: () => ({ value: new Uint8Array() }),
        async upload(requests) {
          for await (const _ of requests) break;
          return { value: new Uint8Array() };
        },
      }),
    ],
  });
}

function messageOf(bytes: number): Buffer {
  return envelope(toBinary(BytesValueSchema, create(BytesValueSchema, { value: Buffer.alloc(bytes) })));
}

async function nothingLeft(endpoint: Endpoint): Promise<void> {
  await waitFor(() => endpoint.stats().activeCalls === 0);
  expect(endpoint.stats().requestBytes).toBe(0);
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
