export { createEndpoint, type Endpoint, type EndpointAddress } from "./endpoint.ts";
export type { AuthOptions, CompressionOptions, EndpointOptions } from "./endpoint-options.ts";
export { defaultLimits, type EndpointLimits, type MethodLimits } from "./limits.ts";
export type { TlsOptions } from "./listener/tls.ts";
export type { EndpointStats } from "./observability/endpoint-metrics.ts";
export {
  type Counter,
  type GaugeSample,
  type Histogram,
  type Labels,
  MetricsRegistry,
} from "./observability/metrics-registry.ts";
export type { HttpRoute } from "./routes/http-route.ts";
