import type { MetricsRegistry } from "../observability/metrics-registry.ts";
import type { HttpRoute } from "./http-route.ts";

/**
 * What every endpoint answers over plain HTTP. Probes carry no token and learn one bit, so they are public; the
 * metrics tell what the users do, so they are not.
 */
export function builtInRoutes(deps: {
  metrics: MetricsRegistry;
  isReady: () => Promise<boolean>;
}): readonly HttpRoute[] {
  return [
    // An empty body, as existing probes of code mode hosts expect.
    { path: "/healthz", isPublic: true, handle: () => new Response(null, { status: 200 }) },
    {
      path: "/readyz",
      isPublic: true,
      handle: async () => new Response(null, { status: (await deps.isReady()) ? 200 : 503 }),
    },
    {
      path: "/metrics",
      handle: () =>
        new Response(deps.metrics.render(), {
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    },
  ];
}
