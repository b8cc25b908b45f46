import type { Counter, Histogram, MetricsRegistry } from "./metrics-registry.ts";

/** Numbers the endpoint can say at any moment. */
export interface EndpointStats {
  /** Open connections by protocol. TLS handshakes and unsniffed ones are in `pending`. */
  readonly connections: { readonly http1: number; readonly http2: number; readonly pending: number };
  /** RPCs that have not ended. */
  readonly activeCalls: number;
  /** Request bytes held for handlers. */
  readonly requestBytes: number;
  readonly isDraining: boolean;
}

/** What the endpoint counts. */
export class EndpointMetrics {
  readonly calls: Counter;
  readonly callSeconds: Histogram;
  readonly routes: Counter;
  readonly connectionErrors: Counter;
  readonly writeStalls: Counter;
  readonly swallowedErrors: Counter;

  constructor(registry: MetricsRegistry, stats: () => EndpointStats) {
    this.calls = registry.counter(
      "trivium_rpc_requests_total",
      "RPCs that ended, by method, protocol and code.",
    );
    this.callSeconds = registry.histogram(
      "trivium_rpc_duration_seconds",
      "Time from request head to end of an RPC.",
    );
    this.routes = registry.counter(
      "trivium_http_requests_total",
      "Plain HTTP requests, by route and status.",
    );
    this.connectionErrors = registry.counter(
      "trivium_connection_errors_total",
      "Connections and streams that failed below HTTP, by error code.",
    );
    this.writeStalls = registry.counter(
      "trivium_rpc_write_stalls_total",
      "RPCs that were reset because their client did not read.",
    );
    this.swallowedErrors = registry.counter(
      "trivium_rpc_swallowed_errors_total",
      "Errors of handlers whose client had gone.",
    );
    registry.gauge("trivium_connections", "Open connections.", () =>
      Object.entries(stats().connections).map(([protocol, value]) => ({ labels: { protocol }, value })),
    );
    registry.gauge("trivium_rpc_active", "RPCs that have not ended.", () => stats().activeCalls);
    registry.gauge(
      "trivium_rpc_request_bytes",
      "Request bytes held for handlers.",
      () => stats().requestBytes,
    );
  }
}
