import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { type AddressInfo, isIPv6, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type IdSource, TriviumError } from "@trivium/core";
import { BulkPairing } from "../bulk-pairing.ts";
import type { ConnectionDeps } from "../connection-deps.ts";
import { serveClient } from "../serve-client.ts";
import { createWebSocketAcceptor } from "./accept-web-socket.ts";
import { refusalOf } from "./access.ts";
import type { WebSocket } from "./web-socket.ts";
import { WebSocketLane } from "./web-socket-lane.ts";

/** Where and for whom to listen. */
export interface WebSocketAddress {
  /** An IP address, IPv6 without brackets. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What every upgrade must present, as `Authorization: Bearer` or in the query as `token`. Absent: nothing. */
  readonly token?: string | undefined;
}

/** What a listening host works with. */
export interface WebSocketHostDeps extends ConnectionDeps {
  readonly ids: IdSource;
}

/** A listening host. Disposing it ends every connection, with what belongs to it, and stops to listen. */
export interface WebSocketHost extends AsyncDisposable {
  /** `ws://ADDRESS:PORT`. */
  readonly url: string;
}

/** Time for the head of a request, and again for the hello. */
const HANDSHAKE_MS = 10_000;
const MAX_CONNECTIONS = 1_000;
const MAX_HEADER_BYTES = 16 * 1024;
const bulkPath = /^\/bulk\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * Listens for V1 clients over WebSockets.
 *
 * @throws what Node reports for an address that cannot be bound
 */
export async function listenWebSockets(
  deps: WebSocketHostDeps,
  address: WebSocketAddress,
): Promise<WebSocketHost> {
  const host = new Host(deps, address);
  return { url: await host.listen(), [Symbol.asyncDispose]: () => host.close() };
}

class Host {
  readonly #deps: WebSocketHostDeps;
  readonly #address: WebSocketAddress;
  readonly #server: Server;
  readonly #pairing: BulkPairing;
  readonly #accept = createWebSocketAcceptor();
  readonly #closing = new AbortController();
  readonly #clients = new Set<Promise<void>>();

  constructor(deps: WebSocketHostDeps, address: WebSocketAddress) {
    this.#deps = deps;
    this.#address = address;
    this.#pairing = new BulkPairing(deps.ids);
    this.#server = createServer({
      headersTimeout: HANDSHAKE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on("error", (error) => deps.logger.warn({ error }, "a connection could not be accepted"));
    this.#server.on("request", (request, response) => {
      response.writeHead(this.#statusOf(request), { "content-length": 0 }).end();
    });
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => {});
      this.#upgrade({ request, socket, head });
    });
  }

  async listen(): Promise<string> {
    const { host, port } = this.#address;
    this.#server.listen({ host, port });
    await once(this.#server, "listening");
    const bound: AddressInfo | string | null = this.#server.address();
    if (bound === null || typeof bound === "string")
      throw new TriviumError("internal", "the port has no address");
    const name = isIPv6(bound.address) ? `[${bound.address}]` : bound.address;
    return `ws://${name}:${bound.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#closing.abort();
    await Promise.all(this.#clients);
    this.#server.closeAllConnections();
    await closed;
  }

  /** Plain requests: somebody asks whether the host is there. */
  #statusOf(request: IncomingMessage): number {
    if (request.headers.origin !== undefined) return 403;
    const { pathname } = urlOf(request);
    if (pathname === "/readyz") return request.method === "GET" ? 200 : 405;
    return pathname === "/" || bulkPath.test(pathname) ? 426 : 404;
  }

  #upgrade(upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer }): void {
    const url = urlOf(upgrade.request);
    const refusal = this.#closing.signal.aborted ? 503 : refusalOf(upgrade.request, url, this.#address.token);
    if (refusal !== undefined) {
      refuse(upgrade.socket, refusal);
      return;
    }
    const token = bulkPath.exec(url.pathname)?.[1];
    if (url.pathname === "/") this.#accept(upgrade, (socket) => this.#serve(socket));
    else {
      const attach = token === undefined ? undefined : this.#pairing.claim(token.toLowerCase());
      if (attach === undefined) refuse(upgrade.socket, 404);
      else this.#accept(upgrade, (socket) => attach(new WebSocketLane(socket, this.#deps.clock)));
    }
  }

  #serve(socket: WebSocket): void {
    const lane = new WebSocketLane(socket, this.#deps.clock);
    const client = serveClient(this.#deps, lane, {
      signal: this.#closing.signal,
      helloMs: HANDSHAKE_MS,
      reserveBulk: () => this.#pairing.reserve(),
    })
      .catch((error: unknown) => this.#deps.logger.warn({ error }, "a connection ended with an error"))
      .finally(() => this.#clients.delete(client));
    this.#clients.add(client);
  }
}

function urlOf(request: IncomingMessage): URL {
  return URL.parse(request.url ?? "/", "ws://host") ?? new URL("ws://host/*");
}

function refuse(socket: Duplex | Socket, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
