import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** An HTTP/2 connection that does exactly what a test says, and is gone at the end of its block. */
export async function rawHttp2(
  url: string,
  options: { windowBytes?: number; rejectUnauthorized?: boolean } = {},
): Promise<{ session: ClientHttp2Session; socket: Socket } & AsyncDisposable> {
  const { hostname, port, protocol } = new URL(url);
  const tcp = connectSocket(Number(port), hostname);
  const socket =
    protocol === "https:"
      ? connectTls({
          socket: tcp,
          ALPNProtocols: ["h2"],
          rejectUnauthorized: options.rejectUnauthorized ?? true,
        })
      : tcp;
  socket.on("error", () => {});
  const session = connect(url, {
    settings: { initialWindowSize: options.windowBytes ?? 65_535 },
    createConnection: () => socket,
  });
  session.on("error", () => {});
  await once(session, "connect");
  return {
    session,
    socket,
    async [Symbol.asyncDispose]() {
      session.destroy();
      socket.destroy();
    },
  };
}

/** One enveloped message. */
export function envelope(message: Uint8Array, flags = 0): Buffer {
  const frame = Buffer.alloc(5 + message.byteLength);
  frame[0] = flags;
  frame.writeUInt32BE(message.byteLength, 1);
  frame.set(message, 5);
  return frame;
}

/** Opens a call and leaves its request open. */
export function openCall(
  session: ClientHttp2Session,
  path: string,
  headers: Record<string, string> = {},
): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  return stream;
}

export interface RawAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trailers: IncomingHttpHeaders;
  readonly rstCode: number;
}

/** Everything the server says until the stream is closed. */
export async function answerOf(stream: ClientHttp2Stream): Promise<RawAnswer> {
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  stream.on("response", (value: IncomingHttpHeaders) => {
    headers = value;
  });
  stream.on("trailers", (value: IncomingHttpHeaders) => {
    trailers = value;
  });
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  // Not `once` of node:events, which rejects on an error: the close follows it.
  await new Promise<void>((resolve) => void stream.once("close", () => resolve()));
  return { headers, body: Buffer.concat(chunks), trailers, rstCode: stream.rstCode ?? -1 };
}
