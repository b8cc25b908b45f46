import type { Duplex } from "node:stream";
import {
  codeModeMethodLimits,
  codeModeService,
  createV1Host,
  type V1Host,
  type WebSocketHost,
  warmUpCodeMode,
} from "@trivium/code-mode-host";
import { type Logger, randomIds, systemClock } from "@trivium/core";
import { createEndpoint, type Endpoint } from "@trivium/endpoint";
import { ConfigError } from "../config/config-error.ts";
import type { ConfigValues } from "../config/config-keys.ts";
import { allowedHosts } from "./allowed-hosts.ts";
import { startCodeMode } from "./code-mode-part.ts";

const MEBIBYTE = 1024 * 1024;
/** Ten megabytes of a tool's result are not to wait for the reader's word many times. */
const windows = { streamWindowBytes: 4 * MEBIBYTE, connectionWindowBytes: 16 * MEBIBYTE };
/** Time for clients to read how their calls ended. */
const DRAIN_MS = 4_000;

/** Where a host listens. */
export interface HostAddress {
  /** An IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isLoopback: boolean;
}

/** A code-mode host on its own. Disposing it ends its sessions, cells and connections. */
export interface CodeModeHost extends AsyncDisposable {
  /** The JSON protocol over pipes. */
  readonly v1: V1Host;
  /** The JSON protocol over WebSockets. */
  listenWebSockets(address: HostAddress): Promise<WebSocketHost>;
  /** The gRPC service on a port; resolves with `http://IP:PORT`. */
  listenGrpc(address: HostAddress): Promise<string>;
  /** The gRPC service on a pipe. */
  attachGrpc(pipe: Duplex): void;
}

/** Starts the cells of a host; it serves nobody before it is told where. */
export function startCodeModeHost(values: ConfigValues, logger: Logger): CodeModeHost {
  const stack = new AsyncDisposableStack();
  const { runtime } = startCodeMode(values, { stack, logger });
  const maxRequests = values["codeMode.maxRequests"];
  const { token } = values;
  const v1 = createV1Host({
    runtime,
    clock: systemClock,
    ids: randomIds,
    logger: logger.child({ part: "v1" }),
    maxRequests,
  });
  const newEndpoint = (address: HostAddress | undefined): Endpoint => {
    const endpoint = createEndpoint({
      services: [codeModeService({ runtime, maxRequests })],
      methodLimits: codeModeMethodLimits,
      limits: windows,
      logger: logger.child({ part: "endpoint" }),
      ...(address !== undefined && {
        auth: { token },
        allowedHosts: allowedHosts(values.allowedHosts, address),
      }),
    });
    // Leases end only when their runtime says so, hence both at once.
    stack.defer(async () => {
      await Promise.all([endpoint.drain(DRAIN_MS), runtime[Symbol.asyncDispose]()]);
    });
    return endpoint;
  };
  return {
    v1,
    async listenWebSockets(address) {
      assertToken(address, token);
      return stack.use(await v1.listenWebSockets({ ...address, token }));
    },
    async listenGrpc(address) {
      assertToken(address, token);
      const { url } = await newEndpoint(address).listen(address);
      // Behind the announcement of the address, which nothing delays.
      setImmediate(() => void warmUpCodeMode(runtime));
      return url;
    },
    attachGrpc: (pipe) => newEndpoint(undefined).attach(pipe),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function assertToken({ host, isLoopback }: HostAddress, token: string | undefined): void {
  if (isLoopback || token !== undefined) return;
  throw new ConfigError(
    `--listen names ${host}, which others can reach, and there is no token: set TRIVIUM_TOKEN, or listen on 127.0.0.1`,
  );
}
