import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@trivium/proto/health";
import { createNodeTransport } from "@trivium/rpc/node";
import { createWebTransport } from "@trivium/rpc/web";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";

const transports: [string, (baseUrl: string) => Transport][] = [
  ["gRPC", (baseUrl) => createNodeTransport({ baseUrl })],
  ["gRPC-Web over HTTP/2", (baseUrl) => createNodeTransport({ baseUrl, protocol: "grpc-web" })],
  [
    "gRPC-Web over HTTP/1.1",
    (baseUrl) => createNodeTransport({ baseUrl, protocol: "grpc-web", httpVersion: "1.1" }),
  ],
  ["Connect over HTTP/2", (baseUrl) => createNodeTransport({ baseUrl, protocol: "connect" })],
  [
    "Connect over HTTP/1.1",
    (baseUrl) => createNodeTransport({ baseUrl, protocol: "connect", httpVersion: "1.1" }),
  ],
  ["gRPC-Web through fetch", (baseUrl) => createWebTransport({ baseUrl })],
  ["Connect through fetch", (baseUrl) => createWebTransport({ baseUrl, protocol: "connect" })],
];

describe.each(transports)("%s", (_name, transportTo) => {
  it("answers a unary call, a status and a stream", async () => {
    await using endpoint = createEndpoint({
      services: [
        (router) =>
          router.service(CrabCodeService, {
            async *sendMessage({ text }) {
              yield { payloadJson: text };
              yield { payloadJson: text };
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    const transport = transportTo(url);
    const health = createClient(Health, transport);
    expect((await health.check({})).status).toBe(Status.SERVING);
    const error = await health
      .check({ service: "nope" })
      .catch((thrown: unknown) => ConnectError.from(thrown));
    expect(error).toMatchObject({ code: Code.NotFound });
    const texts: string[] = [];
    for await (const event of createClient(CrabCodeService, transport).sendMessage({ text: "hi" }))
      texts.push(event.payloadJson);
    expect(texts).toEqual(["hi", "hi"]);
    const unimplemented = await createClient(CrabCodeService, transport)
      .listModels({})
      .catch((thrown: unknown) => ConnectError.from(thrown));
    expect(unimplemented).toMatchObject({ code: Code.Unimplemented });
  });
});
