import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, createServer } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, type ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ManualClock } from "@trivium/core/testing";
import { CrabCodeService, SendMessageRequestSchema } from "@trivium/proto/crabcode";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";

const PATH = "/crabcode.CrabCodeService/SendMessage";
const REQUEST = envelope(
  toBinary(SendMessageRequestSchema, create(SendMessageRequestSchema, { text: "go" })),
);

type Client = { session: ClientHttp2Session; socket: Socket; stream: ClientHttp2Stream };

const http2Ways: [string, Code, (client: Client) => void][] = [
  ["resets the stream", Code.Canceled, ({ stream }) => stream.close(8)],
  ["destroys the socket", Code.Aborted, ({ socket }) => socket.destroy()],
  [
    "says GOAWAY and FIN",
    Code.Aborted,
    ({ session, socket }) => {
      session.goaway(0);
      setImmediate(() => socket.end());
    },
  ],
  ["says FIN", Code.Aborted, ({ socket }) => void socket.end()],
];

describe("a streaming handler that waits for its reader", () => {
  describe.each(["application/grpc", "application/grpc-web+proto", "application/connect+proto"])(
    "%s over HTTP/2",
    (contentType) => {
      it.each(http2Ways)("is finished within a second when the client %s", async (_way, code, vanish) => {
        const handler = floodingHandler();
        const clock = new ManualClock();
        await using endpoint = createEndpoint({ services: [handler.routes], clock });
        const { url } = await endpoint.listen();
        await using client = await rawHttp2(url);
        const stream = openCall(client.session, PATH, { "content-type": contentType });
        stream.end(REQUEST);
        await handler.blocked();
        vanish({ ...client, stream });
        expect((await withinOneSecond(handler.finished)).code).toBe(code);
        // Neither does the call itself leave anything behind.
        while (endpoint.stats().activeCalls > 0) await new Promise((resolve) => setImmediate(resolve));
        // A connection that is left is watched by one timer.
        expect(clock.pendingTimers).toBe(endpoint.stats().connections.http2);
      });
    },
  );

  describe.each(["application/grpc-web+proto", "application/connect+proto"])(
    "%s over HTTP/1.1",
    (contentType) => {
      it.each([
        ["destroys the socket", (socket: Socket) => void socket.destroy()],
        ["resets the socket", (socket: Socket) => void socket.resetAndDestroy()],
        ["says FIN", (socket: Socket) => void socket.end()],
      ])("is finished within a second when the client %s", async (_way, vanish) => {
        const handler = floodingHandler();
        const clock = new ManualClock();
        await using endpoint = createEndpoint({ services: [handler.routes], clock });
        const { port } = await endpoint.listen();
        const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
        socket.on("error", () => {});
        socket.pause();
        const head = `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${contentType}\r\n`;
        socket.write(`${head}content-length: ${REQUEST.byteLength}\r\n\r\n`);
        socket.write(REQUEST);
        await handler.blocked();
        vanish(socket);
        expect((await withinOneSecond(handler.finished)).code).toBe(Code.Aborted);
        socket.destroy();
      });
    },
  );

  it("is left behind by connect-node's own server, which is why we do not use it", async () => {
    const handler = floodingHandler();
    const server = createServer(connectNodeAdapter({ routes: (router) => handler.routes(router) }));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using client = await rawHttp2(`http://127.0.0.1:${port}`);
    const stream = openCall(client.session, PATH);
    stream.end(REQUEST);
    await handler.blocked();
    stream.close(8);
    await expect(withinOneSecond(handler.finished)).rejects.toThrow("not within a second");
    server.close();
  });
});

/** A handler that always has more to say, and tells when it is blocked and when its `finally` has run. */
function floodingHandler(): {
  routes: (router: ConnectRouter) => void;
  blocked: () => Promise<void>;
  finished: Promise<ConnectError>;
} {
  const finished = Promise.withResolvers<ConnectError>();
  let count = 0;
  const routes = (router: ConnectRouter): void => {
    router.service(CrabCodeService, {
      async *sendMessage(_request, { signal }) {
        const payloadJson = "x".repeat(65_536);
        try {
          for (;;) {
            count++;
            yield { payloadJson };
          }
        } finally {
          finished.resolve(signal.reason as ConnectError);
        }
      },
    });
  };
  const blocked = async (): Promise<void> => {
    for (let last = -1; count === 0 || count !== last; ) {
      last = count;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  return { routes, blocked, finished: finished.promise };
}

async function withinOneSecond<Value>(promise: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("not within a second")), 1_000);
  return await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
