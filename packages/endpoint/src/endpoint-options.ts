import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import type { Clock, IdSource, Logger } from "@trivium/core";
import type { EndpointLimits, MethodLimits } from "./limits.ts";
import type { TlsOptions } from "./listener/tls.ts";
import type { MetricsRegistry } from "./observability/metrics-registry.ts";
import type { HttpRoute } from "./routes/http-route.ts";

/** Everything an endpoint is made of. Only `services` is needed. */
export interface EndpointOptions {
  /** Route functions, as service factories return them. A service or method may be registered once. */
  readonly services: readonly ((router: ConnectRouter) => void)[];
  /** Run around every RPC, the first outermost. Errors of handlers already carry a status outside of them. */
  readonly interceptors?: readonly Interceptor[] | undefined;
  readonly limits?: Partial<EndpointLimits> | undefined;
  /** By service (`pkg.Service`) or method (`pkg.Service/Method`); the method's entry wins, field by field. */
  readonly methodLimits?: Readonly<Record<string, MethodLimits>> | undefined;
  readonly auth?: AuthOptions | undefined;
  /** With it the port speaks TLS only. */
  readonly tls?: TlsOptions | undefined;
  /** Origins of web pages that may call, as `https://host:port`. The endpoint's own origin always may. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Host names requests may address, without a port. Default on loopback: `localhost`, its subdomains, and the
   * loopback addresses. Default elsewhere: any, since a token is needed there.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Request headers that pages of allowed origins may send, beyond those of our contracts. */
  readonly allowHeaders?: readonly string[] | undefined;
  /** Response headers and trailers that such pages may read, beyond those of our contracts. */
  readonly exposeHeaders?: readonly string[] | undefined;
  /** Plain HTTP below the RPCs: dashboards and the like. */
  readonly routes?: readonly HttpRoute[] | undefined;
  readonly compression?: CompressionOptions | undefined;
  /** Whether `/readyz` and the whole-server health say yes while the endpoint is not draining. Default: yes. */
  readonly isReady?: (() => boolean | Promise<boolean>) | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: IdSource | undefined;
  /** Where the endpoint adds its metrics; `/metrics` serves all of it. Default: a registry of its own. */
  readonly metrics?: MetricsRegistry | undefined;
}

/** Who may call. */
export interface AuthOptions {
  /**
   * What every RPC and route must present, as `Bearer TOKEN` or `Basic` with the user `crabcode`. Needed to listen
   * on anything but loopback. An empty string counts as none.
   */
  readonly token?: string | undefined;
  /** Methods (`pkg.Service/Method`) that need no token. Those of `grpc.health.v1.Health` never do. */
  readonly publicMethods?: readonly string[] | undefined;
}

/** When responses are compressed, for clients that take gzip. Requests in gzip are always understood. */
export interface CompressionOptions {
  /** Smaller messages travel as they are. Default 16 KiB. */
  readonly minBytes?: number | undefined;
  /** Whether to compress for loopback clients too, where it only costs. Default false. */
  readonly onLoopback?: boolean | undefined;
}
