import type { LookupFunction } from "node:net";
import type { Interceptor, Transport } from "@connectrpc/connect";

/** How to reach a server from Node. Only `baseUrl` is needed. */
export interface NodeTransportOptions {
  /**
   * `http://host:port`, `https://host:port`, or `unix:/path` for a Unix socket, without user, path or query. `http` and
   * `unix` mean HTTP/2 without an upgrade, or HTTP/1.1 when asked for.
   */
  readonly baseUrl: string;
  /** Default `grpc`. */
  readonly protocol?: "grpc" | "grpc-web" | "connect" | undefined;
  /** Default `2`. gRPC itself needs 2; bidi calls do so in every protocol. */
  readonly httpVersion?: "1.1" | "2" | undefined;
  /** Sent as a bearer token with every call. */
  readonly token?: string | undefined;
  /** Run around every call, the first outermost. They see errors with their final codes. */
  readonly interceptors?: readonly Interceptor[] | undefined;
  /** Bytes of one received message. Past it: `RESOURCE_EXHAUSTED`. Default 64 MiB, the most our servers send. */
  readonly readMaxBytes?: number | undefined;
  /** Bytes of one sent message. Past it: `RESOURCE_EXHAUSTED`. Default: no limit but the server's. */
  readonly writeMaxBytes?: number | undefined;
  /** Time limit of calls that give none. Default: none. */
  readonly defaultTimeoutMs?: number | undefined;
  /** Silence after which the connection is probed, with or without open calls. HTTP/2 only. Default 15 000. */
  readonly pingIntervalMs?: number | undefined;
  /** Time for the answer; then every call on the connection ends with `UNAVAILABLE`. Default 10 000. */
  readonly pingTimeoutMs?: number | undefined;
  /** Time to connect. HTTP/2 only. Default 20 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Finds the addresses of the host in place of the system, for callers that have checked them. HTTP/2 only. */
  readonly lookup?: LookupFunction | undefined;
  /** PEM texts, for `https` servers that public authorities do not vouch for, or that want to know their clients. */
  readonly tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined;
}

/** A transport that owns its connections. Disposing it ends them and every call on them. */
export type NodeTransport = Transport & AsyncDisposable;
