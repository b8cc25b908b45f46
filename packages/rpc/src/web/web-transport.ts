import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { bearerTokenInterceptor } from "../bearer-token-interceptor.ts";

/** How to reach a server through `fetch`. Only `baseUrl` is needed. */
export interface WebTransportOptions {
  /** Origin of the server, with a path before the services if there is one. */
  readonly baseUrl: string;
  /** Default `grpc-web`. Both carry unary and server-streaming calls; browsers cannot stream requests. */
  readonly protocol?: "grpc-web" | "connect" | undefined;
  /** Sent as a bearer token with every call. */
  readonly token?: string | undefined;
  /** Run around every call, the first outermost. */
  readonly interceptors?: readonly Interceptor[] | undefined;
  /** Time limit of calls that give none. Default: none. */
  readonly defaultTimeoutMs?: number | undefined;
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * Makes a transport for browsers and other places with `fetch`. Messages travel in the binary format, and may be as
 * large as the server sends them: there is no limit on this side.
 *
 * Over HTTP/1.1 a browser opens six connections to a host and an open server stream holds one of them, so a page
 * keeps few streams open.
 *
 * @example
 * ```ts
 * const client = createClient(GreeterService, createWebTransport({ baseUrl: location.origin }));
 * ```
 */
export function createWebTransport(options: WebTransportOptions): Transport {
  const { baseUrl, token, defaultTimeoutMs, fetch } = options;
  const shared = {
    baseUrl,
    useBinaryFormat: true,
    interceptors: [
      ...(options.interceptors ?? []),
      ...(token === undefined ? [] : [bearerTokenInterceptor(token)]),
    ],
    ...(defaultTimeoutMs !== undefined && { defaultTimeoutMs }),
    ...(fetch !== undefined && { fetch }),
  };
  return options.protocol === "connect" ? createConnectTransport(shared) : createGrpcWebTransport(shared);
}
