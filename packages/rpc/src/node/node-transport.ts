import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Interceptor, Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { TriviumError } from "@trivium/core";
import { bearerTokenInterceptor } from "../bearer-token-interceptor.ts";
import { CallTracker } from "./call-tracker.ts";
import type { NodeTransport, NodeTransportOptions } from "./node-transport-options.ts";
import { resetInterceptor } from "./reset-interceptor.ts";
import { parseServerAddress } from "./server-address.ts";
import { SessionManager } from "./session-manager.ts";

/** The largest message any of our servers sends: a code mode outcome. */
const READ_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Makes a transport for clients on Node, with what long-lived calls need: pings, wide windows, no compression, and
 * statuses a caller can act on when the connection or a stream breaks.
 *
 * @example
 * ```ts
 * await using transport = createNodeTransport({ baseUrl: "http://127.0.0.1:7411" });
 * const client = createClient(GreeterService, transport);
 * ```
 * @throws {@link TriviumError} `invalidInput` for gRPC over HTTP/1.1, and for an address that is none
 */
export function createNodeTransport(options: NodeTransportOptions): NodeTransport {
  const { protocol = "grpc", httpVersion = "2" } = options;
  if (httpVersion === "2") return overHttp2(options, protocol);
  if (protocol === "grpc") {
    throw new TriviumError("invalidInput", "grpc needs httpVersion 2; over 1.1 there are: grpc-web, connect");
  }
  return overHttp1(options, protocol);
}

function overHttp2(options: NodeTransportOptions, protocol: "grpc" | "grpc-web" | "connect"): NodeTransport {
  const tracker = new CallTracker();
  const sessionManager = new SessionManager(options, tracker);
  const shared = { ...sharedOptions(options, tracker), sessionManager };
  const dispose = (): Promise<void> => sessionManager.close();
  switch (protocol) {
    case "grpc":
      return owning(createGrpcTransport(shared), dispose);
    case "grpc-web":
      return owning(createGrpcWebTransport({ ...shared, httpVersion: "2" }), dispose);
    case "connect":
      return owning(createConnectTransport({ ...shared, httpVersion: "2" }), dispose);
  }
}

function overHttp1(options: NodeTransportOptions, protocol: "grpc-web" | "connect"): NodeTransport {
  const { origin, socketPath } = parseServerAddress(options.baseUrl);
  const isSecure = origin.startsWith("https:");
  const agent = isSecure
    ? new HttpsAgent({ keepAlive: true, ...options.tls })
    : new HttpAgent({ keepAlive: true });
  const shared = {
    ...sharedOptions(options),
    httpVersion: "1.1" as const,
    nodeOptions: { agent, socketPath },
  };
  const transport = protocol === "grpc-web" ? createGrpcWebTransport(shared) : createConnectTransport(shared);
  return owning(transport, () => {
    agent.destroy();
    return Promise.resolve();
  });
}

function sharedOptions(
  options: NodeTransportOptions,
  tracker?: CallTracker,
): {
  baseUrl: string;
  interceptors: Interceptor[];
  readMaxBytes: number;
  writeMaxBytes?: number;
  defaultTimeoutMs?: number;
  acceptCompression: [];
} {
  const { token, writeMaxBytes, defaultTimeoutMs } = options;
  return {
    baseUrl: parseServerAddress(options.baseUrl).origin,
    interceptors: [
      ...(options.interceptors ?? []),
      ...(token === undefined ? [] : [bearerTokenInterceptor(token)]),
      // Innermost, so that every other one sees the final codes.
      resetInterceptor(tracker),
    ],
    readMaxBytes: options.readMaxBytes ?? READ_MAX_BYTES,
    ...(writeMaxBytes !== undefined && { writeMaxBytes }),
    ...(defaultTimeoutMs !== undefined && { defaultTimeoutMs }),
    acceptCompression: [],
  };
}

function owning(transport: Transport, dispose: () => Promise<void>): NodeTransport {
  return Object.assign(transport, { [Symbol.asyncDispose]: dispose });
}
