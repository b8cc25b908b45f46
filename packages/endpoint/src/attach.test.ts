import { type ClientHttp2Session, connect } from "node:http2";
import { type Duplex, duplexPair } from "node:stream";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall } from "./testing/raw-http2.ts";

const SEND = "/crabcode.CrabCodeService/SendMessage";

describe("attach", () => {
  it("serves HTTP/2 on a pipe, under whatever name, and forgets it when it ends", async () => {
    await using endpoint = floodingEndpoint();
    const { session, pipe } = attachedTo(endpoint);
    const stream = openCall(session, "/crabcode.CrabCodeService/ListModels");
    stream.end(envelope(new Uint8Array()));
    expect((await answerOf(stream)).trailers["grpc-status"]).toBe("0");
    expect(endpoint.stats().connections.http2).toBe(1);
    pipe.end();
    while (endpoint.stats().connections.http2 > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("lets go of a pipe that still writes when the endpoint is closed", async () => {
    const endpoint = floodingEndpoint();
    const { session } = attachedTo(endpoint);
    const stream = openCall(session, SEND);
    stream.end(envelope(new Uint8Array()));
    await new Promise<void>((resolve) => void stream.once("response", () => resolve()));
    await endpoint.close();
    expect(endpoint.stats()).toMatchObject({ activeCalls: 0, connections: { http2: 0 } });
  });
});

function floodingEndpoint(): Endpoint {
  return createEndpoint({
    services: [
      (router) =>
        router.service(CrabCodeService, {
          listModels: () => ({}),
          async *sendMessage() {
            for (;;) yield { payloadJson: "x".repeat(65_536) };
          },
        }),
    ],
  });
}

function attachedTo(endpoint: Endpoint): { session: ClientHttp2Session; pipe: Duplex } {
  const [ours, theirs] = duplexPair();
  endpoint.attach(ours);
  const session = connect("http://anything.example", { createConnection: () => theirs });
  session.on("error", () => {});
  theirs.on("error", () => {});
  return { session, pipe: theirs };
}
