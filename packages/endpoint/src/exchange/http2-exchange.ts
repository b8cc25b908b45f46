import type { OutgoingHttpHeaders } from "node:http";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import type { Connection } from "../listener/connection.ts";
import { cancelledByClient, connectionLost } from "./close-reason.ts";
import type { Exchange } from "./exchange.ts";

/** An exchange on one stream of an HTTP/2 connection, without Node's compatibility objects. */
export class Http2Exchange implements Exchange {
  readonly httpVersion = "2.0";
  readonly connection: Connection;
  readonly method: string;
  readonly target: string;
  readonly authority: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ServerHttp2Stream;
  /** A closed stream no longer knows it. */
  readonly #session: ServerHttp2Stream["session"];
  #trailers: OutgoingHttpHeaders = {};
  #isEnded = false;

  constructor(connection: Connection, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.connection = connection;
    this.body = stream;
    this.#session = stream.session;
    this.headers = headers;
    this.method = headers[":method"] ?? "";
    this.target = headers[":path"] ?? "";
    this.authority = headers[":authority"] ?? headers.host ?? "";
    // A reset with NO_ERROR: Node would first wait for somebody to read what came before it.
    stream.once("aborted", () => setImmediate(() => stream.destroy()));
  }

  get isRequestComplete(): boolean {
    return this.body.destroyed || this.body.state.remoteClose === 1 || this.body.readableEnded;
  }

  get areHeadersSent(): boolean {
    return this.body.headersSent;
  }

  get isClosed(): boolean {
    return this.body.destroyed || this.body.closed;
  }

  sendHead(status: number, headers: OutgoingHttpHeaders): void {
    if (this.isClosed) return;
    this.body.respond({ ":status": status, ...endToEnd(headers) }, { waitForTrailers: true });
    this.body.once("wantTrailers", () => {
      if (this.isClosed) return;
      this.body.sendTrailers(this.#trailers);
      this.#stopClient();
    });
  }

  sendEmpty(status: number, headers: OutgoingHttpHeaders): void {
    if (this.isClosed) return;
    this.#isEnded = true;
    this.body.respond({ ":status": status, ...endToEnd(headers) }, { endStream: true });
    this.#stopClient();
  }

  write(chunk: Uint8Array): boolean {
    if (this.isClosed || this.body.writableEnded) return true;
    return this.body.write(chunk);
  }

  end(trailers: OutgoingHttpHeaders = {}): void {
    if (this.isClosed || this.body.writableEnded) return;
    this.#trailers = endToEnd(trailers);
    this.#isEnded = true;
    this.body.end();
  }

  reset(): void {
    if (!this.isClosed) this.body.close(constants.NGHTTP2_CANCEL);
  }

  onClose(listener: (reason: ConnectError | undefined) => void): void {
    this.body.once("close", () => {
      const isWhole = this.#isEnded && this.body.rstCode === constants.NGHTTP2_NO_ERROR;
      listener(isWhole ? undefined : this.#closeReason());
    });
  }

  onDrain(listener: () => void): void {
    this.body.on("drain", listener);
  }

  #closeReason(): ConnectError {
    const session = this.#session;
    const isSessionAlive = session !== undefined && !session.destroyed && !session.socket.destroyed;
    return isSessionAlive ? cancelledByClient() : connectionLost();
  }

  /**
   * Tells a client that still sends its request that nobody reads on. In the same turn the reset would overtake the
   * headers or trailers just handed over, and the client would see no status.
   */
  #stopClient(): void {
    if (this.isRequestComplete) return;
    setImmediate(() => {
      if (!this.body.destroyed) this.body.close(constants.NGHTTP2_NO_ERROR);
    });
  }
}

/** HTTP/2 has no headers of a connection, and Node throws on them. RFC 9113 §8.2.2 */
function endToEnd(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (!Object.keys(headers).some((name) => HOP_BY_HOP.has(name))) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);
