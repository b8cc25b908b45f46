import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { TriviumError } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { Health } from "@trivium/proto/health";
import { describe, expect, it } from "vitest";
import { createNodeTransport } from "./node-transport.ts";

const { NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_CANCEL } = constants;

const resets: [string, number, Code, Code][] = [
  ["NO_ERROR", NGHTTP2_NO_ERROR, Code.Unavailable, Code.Internal],
  ["REFUSED_STREAM", NGHTTP2_REFUSED_STREAM, Code.Unavailable, Code.Internal],
  ["ENHANCE_YOUR_CALM", NGHTTP2_ENHANCE_YOUR_CALM, Code.ResourceExhausted, Code.Internal],
  ["CANCEL", NGHTTP2_CANCEL, Code.Canceled, Code.Canceled],
];

describe("a call that the server resets before it answers", () => {
  it.each(resets)("with %s has the code gRPC means", async (_name, rstCode, code) => {
    await using server = await http2Server((stream) => stream.close(rstCode));
    await using transport = createNodeTransport({ baseUrl: server.url });
    const client = createClient(Health, transport);
    expect((await failureOf(client.check({}))).code).toBe(code);
    expect((await failureOf(client.watch({})[Symbol.asyncIterator]().next())).code).toBe(code);
  });

  it.each(resets)("with %s has another one in plain connect-node where it is wrong", async (...row) => {
    const [, rstCode, , plain] = row;
    await using server = await http2Server((stream) => stream.close(rstCode));
    const client = createClient(Health, createGrpcTransport({ baseUrl: server.url }));
    expect((await failureOf(client.check({}))).code).toBe(plain);
  });

  it("unprocessed is sent once more when it is unary", async () => {
    let attempts = 0;
    await using server = await http2Server((stream) => {
      attempts++;
      if (attempts === 1) stream.close(NGHTTP2_REFUSED_STREAM);
      else answer(stream);
    });
    await using transport = createNodeTransport({ baseUrl: server.url });
    await createClient(Health, transport).check({});
    expect(attempts).toBe(2);
  });

  it("is not one that the server answers in the words of a reset", async () => {
    let attempts = 0;
    const words = "http/2 stream closed with error code REFUSED_STREAM (0x7)";
    await using server = await http2Server((stream) => {
      attempts++;
      stream.respond(
        {
          ":status": 200,
          "content-type": "application/grpc",
          "grpc-status": String(Code.Internal),
          "grpc-message": encodeURIComponent(words),
        },
        { endStream: true },
      );
    });
    await using transport = createNodeTransport({ baseUrl: server.url });
    const failure = await failureOf(createClient(Health, transport).check({}));
    expect(failure).toMatchObject({ code: Code.Internal, rawMessage: words });
    expect(attempts).toBe(1);
  });

  it("unprocessed is not sent a third time, and a stream not even twice", async () => {
    let attempts = 0;
    await using server = await http2Server((stream) => {
      attempts++;
      stream.close(NGHTTP2_REFUSED_STREAM);
    });
    await using transport = createNodeTransport({ baseUrl: server.url });
    const client = createClient(Health, transport);
    await failureOf(client.check({}));
    expect(attempts).toBe(2);
    await failureOf(client.watch({})[Symbol.asyncIterator]().next());
    expect(attempts).toBe(3);
  });
});

describe("a call whose connection is lost", () => {
  const ways: [string, (session: ServerHttp2Session, socket: Socket) => void][] = [
    ["destroyed", (_session, socket) => void socket.destroy()],
    ["reset", (_session, socket) => void socket.resetAndDestroy()],
    ["ended", (_session, socket) => void socket.end()],
    ["closed by the session", (session) => session.destroy()],
  ];

  it.each(ways)("is UNAVAILABLE when the connection is %s before the answer", async (_way, lose) => {
    await using server = await http2Server((stream, _headers, socket) =>
      lose(stream.session as ServerHttp2Session, socket),
    );
    await using transport = createNodeTransport({ baseUrl: server.url });
    expect((await failureOf(createClient(Health, transport).check({}))).code).toBe(Code.Unavailable);
  });

  it.each(ways)("is UNAVAILABLE when the connection is %s in the middle of a stream", async (_way, lose) => {
    await using server = await http2Server((stream, _headers, socket) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(Buffer.alloc(5), () =>
        setTimeout(() => lose(stream.session as ServerHttp2Session, socket), 20),
      );
    });
    await using transport = createNodeTransport({ baseUrl: server.url });
    const watch = createClient(Health, transport).watch({})[Symbol.asyncIterator]();
    await watch.next();
    expect((await failureOf(watch.next())).code).toBe(Code.Unavailable);
  });

  it("is UNAVAILABLE when nothing listens", async () => {
    const server = await http2Server(() => {});
    await server[Symbol.asyncDispose]();
    await using transport = createNodeTransport({ baseUrl: server.url });
    expect((await failureOf(createClient(Health, transport).check({}))).code).toBe(Code.Unavailable);
  });

  it.each(["grpc-web", "connect"] as const)("is UNAVAILABLE over HTTP/1.1 too, with %s", async (protocol) => {
    const server = createTcpServer((socket) => socket.once("data", () => socket.destroy()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using transport = createNodeTransport({ baseUrl, protocol, httpVersion: "1.1" });
    expect((await failureOf(createClient(Health, transport).check({}))).code).toBe(Code.Unavailable);
    server.close();
  });
});

describe("a connection into a black hole", () => {
  it("ends its calls with UNAVAILABLE after ping interval and timeout, and is replaced", async () => {
    await using server = await http2Server(watching);
    await using relay = await relayTo(server.port);
    await using transport = createNodeTransport({
      baseUrl: relay.url,
      pingIntervalMs: 50,
      pingTimeoutMs: 300,
    });
    const client = createClient(Health, transport);
    const watch = client.watch({})[Symbol.asyncIterator]();
    await watch.next();
    relay.swallow();
    expect((await failureOf(watch.next())).code).toBe(Code.Unavailable);
    expect((await client.watch({})[Symbol.asyncIterator]().next()).done).toBe(false);
  });

  it("is looked for while no call is open, too", async () => {
    await using server = await http2Server((stream) => answer(stream));
    await using transport = createNodeTransport({ baseUrl: server.url, pingIntervalMs: 20 });
    await createClient(Health, transport).check({});
    const [session] = server.sessions;
    if (session === undefined) throw new Error("no session");
    for (let count = 0; count < 2; count++) await once(session, "ping");
  });

  it("is noticed while no call is open: the next call finds a fresh one", async () => {
    await using server = await http2Server((stream) => answer(stream));
    await using relay = await relayTo(server.port);
    await using transport = createNodeTransport({
      baseUrl: relay.url,
      pingIntervalMs: 30,
      pingTimeoutMs: 200,
    });
    const client = createClient(Health, transport);
    await client.check({});
    const [session] = server.sessions;
    relay.swallow();
    // The client cuts its side; the relay, being a black hole, cannot tell the server.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.check({});
    expect(server.sessions.size).toBe(2);
    session?.destroy();
  });

  it("is never noticed by plain connect-node, which sends no pings by default", async () => {
    await using server = await http2Server(watching);
    await using relay = await relayTo(server.port);
    const client = createClient(Health, createGrpcTransport({ baseUrl: relay.url }));
    const stop = new AbortController();
    const watch = client.watch({}, { signal: stop.signal })[Symbol.asyncIterator]();
    await watch.next();
    relay.swallow();
    const next = watch.next().catch(() => "aborted");
    const waited = new Promise((resolve) => setTimeout(resolve, 300, "still waiting"));
    expect(await Promise.race([next, waited])).toBe("still waiting");
    stop.abort();
    await next;
  });

  it.each(["reset", "FIN", "black hole"])(
    "makes no ping an uncaught exception when it dies by %s",
    async (way) => {
      await using server = await http2Server(watching);
      await using relay = await relayTo(server.port);
      await using transport = createNodeTransport({
        baseUrl: relay.url,
        pingIntervalMs: 10,
        pingTimeoutMs: 150,
      });
      for (let round = 0; round < 5; round++) {
        const watch = createClient(Health, transport).watch({})[Symbol.asyncIterator]();
        await watch.next();
        if (way === "black hole") relay.swallow();
        else relay.cut(way === "reset");
        await failureOf(watch.next());
      }
      // An uncaught exception would fail the run; timers of dead sessions have fired by now.
      await new Promise((resolve) => setTimeout(resolve, 200));
    },
  );
});

describe("a server on a Unix socket", () => {
  it.each([
    { protocol: "grpc", httpVersion: "2" },
    { protocol: "connect", httpVersion: "2" },
  ] as const)("is reached with $protocol over HTTP/$httpVersion", async (carrier) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "server.sock");
    const contentType = carrier.protocol === "grpc" ? "application/grpc" : "application/proto";
    const authorities: unknown[] = [];
    const server = createServer();
    server.on("stream", (stream: ServerHttp2Stream, headers) => {
      authorities.push(headers[":authority"]);
      if (carrier.protocol === "grpc") answer(stream);
      else {
        stream.respond({ ":status": 200, "content-type": contentType });
        stream.end();
      }
    });
    server.listen(path);
    await once(server, "listening");
    {
      await using transport = createNodeTransport({ baseUrl: `unix:${path}`, ...carrier });
      await createClient(Health, transport).check({});
      await createClient(Health, transport).check({});
    }
    expect(authorities).toEqual(["localhost:80", "localhost:80"]);
    server.close();
    await once(server, "close");
  });

  it("is reached over HTTP/1.1", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "server.sock");
    const server = createHttpServer((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "application/proto" }).end();
    }).listen(path);
    await once(server, "listening");
    {
      await using transport = createNodeTransport({
        baseUrl: `unix:${path}`,
        protocol: "connect",
        httpVersion: "1.1",
      });
      await createClient(Health, transport).check({});
    }
    server.close();
    await once(server, "close");
  });

  it("that is not there is UNAVAILABLE", async () => {
    await using folder = await temporaryFolder();
    const baseUrl = `unix:${join(folder.path, "nobody.sock")}`;
    await using transport = createNodeTransport({ baseUrl });
    expect((await failureOf(createClient(Health, transport).check({}))).code).toBe(Code.Unavailable);
  });

  it("has no address with more than its path", () => {
    expect(() => createNodeTransport({ baseUrl: "http://user:s3cret@host" })).toThrow(/has a user name/);
  });
});

describe("the transport", () => {
  it("opens wide windows on stream and connection", async () => {
    await using server = await http2Server((stream) => answer(stream));
    await using transport = createNodeTransport({ baseUrl: server.url });
    await createClient(Health, transport).check({});
    const [session] = server.sessions;
    expect(session?.remoteSettings.initialWindowSize).toBe(1024 * 1024);
    expect(session?.remoteSettings.enablePush).toBe(false);
    await new Promise((resolve) => session?.ping(resolve));
    expect(session?.state.remoteWindowSize).toBeGreaterThan(15 * 1024 * 1024);
  });

  it("neither asks for compression nor uses it", async () => {
    let seen: IncomingHttpHeaders = {};
    await using server = await http2Server((stream, headers) => {
      seen = headers;
      answer(stream);
    });
    await using transport = createNodeTransport({ baseUrl: server.url });
    await createClient(Health, transport).check({ service: "x".repeat(10_000) });
    expect(seen["grpc-accept-encoding"]).toBeUndefined();
    expect(seen["grpc-encoding"]).toBeUndefined();
    expect(Object.keys(seen).filter((name) => name.includes("local"))).toEqual([]);
  });

  it("presents its token, unless the call has its own", async () => {
    const seen: (string | undefined)[] = [];
    await using server = await http2Server((stream, headers) => {
      seen.push(headers.authorization);
      answer(stream);
    });
    await using transport = createNodeTransport({ baseUrl: server.url, token: "secret" });
    await createClient(Health, transport).check({});
    await createClient(Health, transport).check({}, { headers: { authorization: "Bearer other" } });
    expect(seen).toEqual(["Bearer secret", "Bearer other"]);
  });

  it("refuses a message above its receive limit", async () => {
    await using server = await http2Server((stream) =>
      answer(stream, Buffer.concat([Buffer.from([0x0a, 0x64]), Buffer.alloc(100)])),
    );
    await using transport = createNodeTransport({ baseUrl: server.url, readMaxBytes: 50 });
    expect((await failureOf(createClient(Health, transport).check({}))).code).toBe(Code.ResourceExhausted);
  });

  it("takes messages of up to 64 MiB, as code mode sends them", async () => {
    const limitBytes = 64 * 1024 * 1024;
    const sizes = [limitBytes, limitBytes + 1];
    await using server = await http2Server((stream) => answer(stream, messageOf(sizes.shift() ?? 0)));
    await using transport = createNodeTransport({ baseUrl: server.url });
    const client = createClient(Health, transport);
    await client.check({});
    expect((await failureOf(client.check({}))).code).toBe(Code.ResourceExhausted);
  });

  it("shows interceptors the final code", async () => {
    let seen: Code | undefined;
    await using server = await http2Server((stream) => stream.close(NGHTTP2_ENHANCE_YOUR_CALM));
    await using transport = createNodeTransport({
      baseUrl: server.url,
      interceptors: [
        (next) => (request) =>
          next(request).catch((thrown: unknown) => {
            seen = ConnectError.from(thrown).code;
            throw thrown;
          }),
      ],
    });
    await failureOf(createClient(Health, transport).check({}));
    expect(seen).toBe(Code.ResourceExhausted);
  });

  it("ends its calls and connections when it is disposed, and makes no new ones", async () => {
    await using server = await http2Server(watching);
    const transport = createNodeTransport({ baseUrl: server.url });
    const client = createClient(Health, transport);
    const watch = client.watch({})[Symbol.asyncIterator]();
    await watch.next();
    const end = failureOf(watch.next());
    await transport[Symbol.asyncDispose]();
    expect((await end).code).toBe(Code.Canceled);
    while (server.sessions.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await failureOf(client.check({}))).rawMessage).toBe("the transport is closed");
  });

  it("does not do gRPC over HTTP/1.1", () => {
    const attempt = (): unknown => createNodeTransport({ baseUrl: "http://localhost", httpVersion: "1.1" });
    expect(attempt).toThrow(TriviumError);
  });
});

type Handler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: Socket) => void;

async function http2Server(
  handler: Handler,
): Promise<{ url: string; port: number; sessions: Set<ServerHttp2Session> } & AsyncDisposable> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  let socket: Socket;
  server.on("connection", (accepted: Socket) => {
    socket = accepted;
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => {});
    handler(stream, headers, socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    sessions,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A whole unary answer with one message. */
function answer(stream: ServerHttp2Stream, message: Uint8Array = new Uint8Array()): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  const frame = Buffer.alloc(5 + message.byteLength);
  frame.writeUInt32BE(message.byteLength, 1);
  frame.set(message, 5);
  stream.end(frame);
}

/** A message of exactly so many bytes, in a field nobody knows: one byte of tag, four of length. */
function messageOf(bytes: number): Uint8Array {
  const message = Buffer.alloc(bytes);
  let length = bytes - 5;
  message[0] = 0x12;
  for (let offset = 1; offset < 5; offset++, length >>>= 7) {
    message[offset] = (length & 0x7f) | (offset < 4 ? 0x80 : 0);
  }
  return message;
}

/** One message, and an open end. */
function watching(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" });
  stream.write(Buffer.alloc(5));
}

async function relayTo(
  port: number,
): Promise<{ url: string; swallow(): void; cut(isReset: boolean): void } & AsyncDisposable> {
  const all = new Set<Socket>();
  let pairs: Socket[] = [];
  const server = createTcpServer({ allowHalfOpen: true }, (inner) => {
    const outer = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    inner.pipe(outer).pipe(inner);
    pairs.push(inner, outer);
    for (const socket of [inner, outer]) {
      all.add(socket);
      socket.on("error", () => {});
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallow() {
      for (const socket of pairs) socket.unpipe().resume();
    },
    cut(isReset) {
      for (const socket of pairs) {
        if (isReset) socket.resetAndDestroy();
        else socket.end();
      }
      pairs = [];
    },
    async [Symbol.asyncDispose]() {
      for (const socket of all) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function failureOf(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await promise;
  } catch (thrown) {
    return ConnectError.from(thrown);
  }
  throw new Error("the call did not fail");
}
