import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import type { Connection } from "../listener/connection.ts";
import { connectionLost } from "./close-reason.ts";
import type { Exchange } from "./exchange.ts";

/** How long a client that still sends its request may go on reading our answer before the socket is closed. */
const LINGER_MS = 500;

/** An exchange on an HTTP/1.1 connection. */
export class Http1Exchange implements Exchange {
  readonly httpVersion = "1.1";
  readonly connection: Connection;
  readonly method: string;
  readonly target: string;
  readonly authority: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #isClosing: () => boolean;

  /** @param init.isClosing whether the connection must not be kept for another request */
  constructor(init: {
    connection: Connection;
    request: IncomingMessage;
    response: ServerResponse;
    isClosing: () => boolean;
  }) {
    const { request, response } = init;
    this.connection = init.connection;
    this.method = request.method ?? "";
    this.target = request.url ?? "";
    this.authority = request.headers.host ?? "";
    this.headers = request.headers;
    this.body = request;
    this.#response = response;
    this.#isClosing = init.isClosing;
    request.on("error", () => {});
    response.on("error", () => {});
    const { socket } = request;
    // A client that has said it will send nothing more is gone: with an unread response the socket would stay.
    const onEnd = (): void => {
      if (!response.writableFinished) socket.destroy();
    };
    socket.once("end", onEnd);
    response.once("close", () => socket.off("end", onEnd));
  }

  get isRequestComplete(): boolean {
    // A request without a body is complete with its head, though Node says so only after the handler ran.
    return this.body.complete || !hasBody(this.headers);
  }

  get areHeadersSent(): boolean {
    return this.#response.headersSent;
  }

  get isClosed(): boolean {
    return this.#response.destroyed || this.#response.closed;
  }

  sendHead(status: number, headers: OutgoingHttpHeaders): void {
    if (this.isClosed) return;
    this.#response.writeHead(status, this.#withConnection(headers));
    this.#response.flushHeaders();
  }

  sendEmpty(status: number, headers: OutgoingHttpHeaders): void {
    if (this.isClosed) return;
    const isSilent = status === 204 || status === 304 || this.method === "HEAD";
    const length = isSilent ? {} : { "content-length": 0 };
    this.#response.writeHead(status, this.#withConnection({ ...headers, ...length }));
    this.#response.end();
  }

  write(chunk: Uint8Array): boolean {
    if (this.isClosed || this.#response.writableEnded) return true;
    return this.#response.write(chunk);
  }

  end(trailers?: OutgoingHttpHeaders): void {
    if (this.isClosed || this.#response.writableEnded) return;
    if (trailers !== undefined) this.#response.addTrailers(trailers);
    this.#response.end();
  }

  reset(): void {
    this.body.socket.destroy();
  }

  onClose(listener: (reason: ConnectError | undefined) => void): void {
    this.#response.once("close", () => {
      listener(this.#response.writableFinished ? undefined : connectionLost());
    });
  }

  onDrain(listener: () => void): void {
    this.#response.on("drain", listener);
  }

  /**
   * An unfinished upload cannot be stopped over HTTP/1.1 but by closing the connection. Closing it at once makes the
   * client's TCP drop the answer it has not read, so we close our half, go on discarding, and close it all later.
   */
  #withConnection(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
    if (this.isRequestComplete) {
      return this.#isClosing() ? { ...headers, connection: "close" } : headers;
    }
    const { socket } = this.body;
    socket.destroySoon = () => {
      socket.end();
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    };
    return { ...headers, connection: "close" };
  }
}

/** RFC 9112 §6.3 */
function hasBody(headers: IncomingMessage["headers"]): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
