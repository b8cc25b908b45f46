import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import {
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Server as TlsServer } from "node:tls";
import { type Clock, type Logger, TriviumError } from "@trivium/core";
import { ByteBudget } from "../call/byte-budget.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { Http1Exchange } from "../exchange/http1-exchange.ts";
import { Http2Exchange } from "../exchange/http2-exchange.ts";
import type { EndpointLimits } from "../limits.ts";
import { Connection, isLoopbackAddress } from "./connection.ts";
import { Http2Sessions } from "./http2-sessions.ts";
import { OncePerMinute } from "./once-per-minute.ts";
import { sniffProtocol } from "./protocol-sniffer.ts";
import { cleartextAlert, createTlsServer, type TlsOptions, tlsOnlyAnswer } from "./tls.ts";

export interface ListenerOptions {
  readonly limits: EndpointLimits;
  readonly tls: TlsOptions | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onExchange: (exchange: Exchange) => void;
  /** A connection or stream failed below HTTP; `code` comes from a small set. */
  readonly onConnectionError: (code: string) => void;
}

/** The one port: accepts connections, finds out what they speak, and turns requests into exchanges. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #http1: Server;
  readonly #http2: Http2Server;
  readonly #tls: TlsServer | undefined;
  readonly #serveHttp1: (socket: Socket) => void;
  readonly #sessions: Http2Sessions;
  readonly #budget: ByteBudget;
  readonly #sockets = new Set<Socket>();
  /** Those that have not said what they speak. */
  readonly #unsniffed = new Set<Socket>();
  readonly #pipes = new Set<Duplex>();
  readonly #http1Connections = new Map<Socket, Connection>();
  readonly #connectionsOfAddress = new Map<string, number>();
  readonly #hints: OncePerMinute;
  /** Being handed to the HTTP/2 server, which emits its session at once. */
  #pending: { connection: Connection; carrier: Duplex } | undefined;
  #isClosing = false;
  #stopped: Promise<void> | undefined;

  constructor(options: ListenerOptions) {
    const { limits } = options;
    this.#options = options;
    this.#budget = new ByteBudget(limits.totalRequestBytes);
    this.#hints = new OncePerMinute(options.clock);
    this.#sessions = new Http2Sessions(options);
    this.#http1 = createHttpServer({
      keepAliveTimeout: limits.idleTimeoutMs,
      // HTTP/1.1 has no ping: TCP's own probes find clients that are gone while their call is silent.
      keepAlive: true,
      keepAliveInitialDelay: limits.idleTimeoutMs,
      headersTimeout: limits.headersTimeoutMs,
      // It would cut long uploads; request bodies have their own timer.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(1_000, Math.ceil(limits.headersTimeoutMs / 4)),
      maxHeaderSize: limits.maxHeaderBytes,
    });
    this.#http1.maxConnections = limits.maxConnections;
    this.#http1.on("drop", () => options.onConnectionError("too-many-connections"));
    // Failures to accept, as for want of descriptors, would be uncaught exceptions.
    this.#http1.on("error", (error) => options.onConnectionError(codeOf(error)));
    // Node enforces header timeouts and closes idle connections only for the server that listens, so this one does,
    // and its own connection listener is called for what turns out to be HTTP/1.1.
    const [serveHttp1] = this.#http1.listeners("connection");
    if (serveHttp1 === undefined)
      throw new TriviumError("internal", "http.Server has no connection listener");
    this.#serveHttp1 = (socket) => Reflect.apply(serveHttp1, this.#http1, [socket]);
    this.#http1.removeAllListeners("connection");
    this.#http1.on("connection", (socket: Socket) => this.#onConnection(socket));
    this.#http1.on("request", (request, response) => this.#onHttp1Request(request, response));
    this.#http2 = createHttp2Server({
      settings: {
        maxConcurrentStreams: limits.maxStreamsPerConnection,
        maxHeaderListSize: limits.maxHeaderBytes,
        initialWindowSize: limits.streamWindowBytes,
        enablePush: false,
      },
      // About 66 KB are counted for a stream whose reader is slow: enough for all of them.
      maxSessionMemory: 64,
    });
    // Never a `request` listener here: Node would answer every stream a second time.
    this.#http2.on("session", (session: ServerHttp2Session) => this.#onHttp2Session(session));
    this.#http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
      this.#onHttp2Stream(stream, headers),
    );
    this.#http2.on("sessionError", (error: Error) => options.onConnectionError(codeOf(error)));
    this.#tls =
      options.tls &&
      createTlsServer(options.tls, limits.sniffTimeoutMs, {
        onHttp1: (socket) => this.#acceptHttp1(socket, true),
        onHttp2: (socket) => this.#acceptHttp2(socket, true),
        onError: (error) => options.onConnectionError(codeOf(error)),
      });
  }

  get connections(): { http1: number; http2: number; pending: number } {
    const http1 = this.#http1Connections.size;
    const http2 = this.#sessions.size;
    return { http1, http2, pending: Math.max(0, this.#sockets.size - http1 - http2) };
  }

  get requestBytes(): number {
    return this.#budget.heldBytes;
  }

  /** Whether a new call would have to wait behind more request bytes than may be held. */
  isOverBudget(connection: Connection): boolean {
    const { limits } = this.#options;
    const isOver =
      connection.budget.heldBytes + this.#sessions.unreadBytesOf(connection) > limits.connectionRequestBytes;
    return isOver || this.#budget.heldBytes + this.#sessions.unreadBytes() > limits.totalRequestBytes;
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#http1.once("error", reject);
      this.#http1.listen({ host, port }, () => {
        this.#http1.off("error", reject);
        const address = this.#http1.address();
        if (address === null || typeof address === "string") {
          reject(new TriviumError("internal", "the port has no address"));
        } else {
          resolve(address);
        }
      });
    });
  }

  /** Serves HTTP/2 on an existing pipe instead of an accepted socket. */
  attach(stream: Duplex): void {
    stream.on("error", (error: Error) => this.#options.onConnectionError(codeOf(error)));
    this.#pipes.add(stream);
    stream.once("close", () => this.#pipes.delete(stream));
    this.#acceptHttp2(stream, false);
  }

  /** Stops accepting and lets go of every connection as its calls end. */
  startClosing(): void {
    this.#isClosing = true;
    // Also closes what is idle. An error says that it was not listening: nothing to stop then.
    this.#stopped = new Promise((resolve) => void this.#http1.close(() => resolve()));
    this.#sessions.closeAll();
    for (const socket of this.#unsniffed) socket.destroy();
  }

  /** Resolves when no connection is left. */
  async closed(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => closedEvent(socket)));
    await this.#sessions.closed();
    await this.#stopped;
  }

  /** Cuts every connection. */
  destroyAll(): void {
    // Node fails an assertion when a session is destroyed while its pipe still writes; without the pipe it ends itself.
    for (const pipe of this.#pipes) pipe.destroy();
    this.#sessions.destroyAll();
    this.#http1.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }

  #onConnection(socket: Socket): void {
    // A reset while sniffing would be an uncaught exception otherwise.
    socket.on("error", (error) => this.#options.onConnectionError(codeOf(error)));
    const address = socket.remoteAddress ?? "";
    if (this.#isClosing || !this.#countAddress(socket, address)) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    this.#unsniffed.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#unsniffed.delete(socket);
    });
    sniffProtocol(socket, {
      clock: this.#options.clock,
      timeoutMs: this.#options.limits.sniffTimeoutMs,
      onVerdict: (protocol) => {
        this.#unsniffed.delete(socket);
        if (protocol === "tls") this.#onTls(socket, address);
        else if (this.#tls !== undefined) this.#onCleartext(socket, address);
        else if (protocol === "http2") this.#acceptHttp2(socket, false);
        else this.#acceptHttp1(socket, false);
      },
    });
  }

  #onTls(socket: Socket, address: string): void {
    if (this.#tls !== undefined) {
      this.#tls.emit("connection", socket);
      return;
    }
    this.#options.onConnectionError("tls-on-cleartext-port");
    this.#hints.run(`tls ${address}`, () =>
      this.#options.logger.warn(
        { remoteAddress: address },
        "a client speaks TLS; this port is clear text: use http://",
      ),
    );
    socket.end(cleartextAlert, () => socket.destroy());
  }

  #onCleartext(socket: Socket, address: string): void {
    this.#options.onConnectionError("cleartext-on-tls-port");
    this.#hints.run(`clear ${address}`, () =>
      this.#options.logger.warn(
        { remoteAddress: address },
        "a client speaks clear text; this port needs https://",
      ),
    );
    socket.end(tlsOnlyAnswer, () => socket.destroy());
  }

  #acceptHttp1(socket: Socket, isEncrypted: boolean): void {
    if (this.#isClosing) {
      // A TLS handshake that took so long.
      socket.destroy();
      return;
    }
    this.#http1Connections.set(socket, this.#newConnection(socket, isEncrypted));
    socket.once("close", () => this.#http1Connections.delete(socket));
    this.#serveHttp1(socket);
  }

  #acceptHttp2(socket: Duplex, isEncrypted: boolean): void {
    // Half-open, an idle session would stay for good after the client's FIN.
    socket.allowHalfOpen = false;
    this.#pending = { connection: this.#newConnection(socket, isEncrypted), carrier: socket };
    this.#http2.emit("connection", socket);
    this.#pending = undefined;
  }

  #newConnection(socket: Duplex, isEncrypted: boolean): Connection {
    const isPipe = !(socket instanceof Socket);
    const remoteAddress = isPipe ? "" : (socket.remoteAddress ?? "");
    const budget = new ByteBudget(this.#options.limits.connectionRequestBytes, this.#budget);
    return new Connection({ remoteAddress, isEncrypted, isPipe, budget });
  }

  #onHttp2Session(session: ServerHttp2Session): void {
    if (this.#pending === undefined) {
      session.destroy();
      return;
    }
    this.#sessions.add(session, this.#pending.connection, this.#pending.carrier);
    // A TLS handshake that took so long. GOAWAY tells the client that it may try elsewhere.
    if (this.#isClosing) session.close();
  }

  #onHttp2Stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // First of all: the client may have reset it already. `close` follows and says what happened.
    stream.on("error", () => {});
    const connection = stream.destroyed ? undefined : this.#sessions.onStream(stream);
    if (connection === undefined) stream.destroy();
    else this.#options.onExchange(new Http2Exchange(connection, stream, headers));
  }

  #onHttp1Request(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#http1Connections.get(request.socket);
    if (connection === undefined) {
      request.socket.destroy();
      return;
    }
    const isClosing = (): boolean => this.#isClosing;
    connection.openRequests++;
    response.once("close", () => {
      connection.openRequests--;
      // Its head was sent before the closing began, and did not say that this response is the last.
      if (this.#isClosing && connection.openRequests === 0) request.socket.destroySoon();
    });
    this.#options.onExchange(new Http1Exchange({ connection, request, response, isClosing }));
  }

  /** False when an address has too many connections already. */
  #countAddress(socket: Socket, address: string): boolean {
    if (isLoopbackAddress(address)) return true;
    const count = (this.#connectionsOfAddress.get(address) ?? 0) + 1;
    if (count > this.#options.limits.maxConnectionsPerAddress) {
      this.#options.onConnectionError("too-many-connections");
      return false;
    }
    this.#connectionsOfAddress.set(address, count);
    socket.once("close", () => {
      const left = (this.#connectionsOfAddress.get(address) ?? 1) - 1;
      if (left === 0) this.#connectionsOfAddress.delete(address);
      else this.#connectionsOfAddress.set(address, left);
    });
    return true;
  }
}

function closedEvent(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "other";
}
