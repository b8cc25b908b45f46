import type { Readable, Writable } from "node:stream";
import type { CodeModeRuntime } from "@trivium/code-mode-runtime";
import type { Clock, IdSource, Logger } from "@trivium/core";
import { DEFAULT_MAX_REQUESTS, RequestGate } from "../request-gate.ts";
import { serveClient } from "./serve-client.ts";
import { StdioLane } from "./stdio-lane.ts";
import type { WebSocketAddress, WebSocketHost } from "./web-socket/listen-web-sockets.ts";

/** What a V1 host is made of. It owns none of it. */
export interface V1HostDeps {
  readonly runtime: CodeModeRuntime;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Requests in progress, of all clients together; more are refused. Default 1024. */
  readonly maxRequests?: number;
}

/** The JSON protocol V1 over a runtime, on whatever carries it. */
export interface V1Host {
  /**
   * Serves the one client at the other end of two pipes, until it closes its end or `signal` aborts. Both pipes are
   * closed then, and nothing of the client is left.
   *
   * @throws {@link ProtocolError} when the client broke the protocol; what the pipe reports when that broke
   */
  serveStdio(
    pipes: { readonly input: Readable; readonly output: Writable },
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Listens for clients over WebSockets. Addresses beyond loopback should have a token.
   *
   * @throws what Node reports for an address that cannot be bound
   */
  listenWebSockets(address: WebSocketAddress): Promise<WebSocketHost>;
}

/** Makes a host; it serves nobody before it is told where. */
export function createV1Host(deps: V1HostDeps): V1Host {
  const { runtime, clock, logger, ids } = deps;
  const gate = new RequestGate(deps.maxRequests ?? DEFAULT_MAX_REQUESTS);
  const connectionDeps = { runtime, clock, logger, gate };
  return {
    serveStdio: ({ input, output }, signal) =>
      serveClient(connectionDeps, new StdioLane(input, output), { signal }),
    async listenWebSockets(address) {
      // Most hosts never do, and start the sooner.
      const { listenWebSockets } = await import("./web-socket/listen-web-sockets.ts");
      return await listenWebSockets({ ...connectionDeps, ids }, address);
    },
  };
}
