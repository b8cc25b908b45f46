import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { abortReason, TriviumError } from "@trivium/core";
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as Status,
} from "@trivium/proto/health";
import type { HealthRegistry } from "./health-registry.ts";

/** Methods that need no token: probes have none, and learn nothing but names of services. */
export const publicHealthMethods: readonly string[] = ["Check", "Watch", "List"].map(
  (method) => `/${Health.typeName}/${method}`,
);

/** Adds grpc.health.v1.Health to a router. */
export function healthService(registry: HealthRegistry): (router: ConnectRouter) => void {
  return (router) => {
    router.service(Health, {
      check: (request) => check(registry, request),
      list: () => ({
        statuses: Object.fromEntries(
          registry.services().map((service) => [service, { status: statusOf(registry, service) }]),
        ),
      }),
      watch: (request, context) => watch(registry, request, context),
    });
  };
}

function check(registry: HealthRegistry, { service }: HealthCheckRequest): { status: Status } {
  const status = statusOf(registry, service);
  if (status === Status.SERVICE_UNKNOWN) {
    throw new TriviumError(
      "notFound",
      `no service named ${service}; there are: ${registry.services().filter(Boolean).join(", ")}`,
    );
  }
  return { status };
}

/** The state first, then each change of it. Contract: health.proto; an unknown service may still appear. */
async function* watch(
  registry: HealthRegistry,
  { service }: HealthCheckRequest,
  { signal }: Pick<HandlerContext, "signal">,
): AsyncGenerator<{ status: Status }> {
  let last: Status | undefined;
  while (!signal.aborted) {
    const status = statusOf(registry, service);
    if (status !== last) {
      last = status;
      yield { status };
      continue;
    }
    await registry.changed(signal);
  }
  throw abortReason(signal);
}

function statusOf(registry: HealthRegistry, service: string): Status {
  switch (registry.isServing(service)) {
    case true:
      return Status.SERVING;
    case false:
      return Status.NOT_SERVING;
    case undefined:
      return Status.SERVICE_UNKNOWN;
  }
}
