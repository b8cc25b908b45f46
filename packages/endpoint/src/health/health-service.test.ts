import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@trivium/proto/health";
import { errorInterceptor } from "@trivium/rpc";
import { describe, expect, it } from "vitest";
import { HealthRegistry } from "./health-registry.ts";
import { healthService } from "./health-service.ts";

function setUp() {
  const registry = new HealthRegistry();
  registry.setServing("pkg.A", true);
  registry.setServing("pkg.B", false);
  const client = createClient(
    Health,
    createRouterTransport(healthService(registry), { router: { interceptors: [errorInterceptor] } }),
  );
  return { registry, client };
}

describe("grpc.health.v1.Health", () => {
  it.each([
    ["", Status.SERVING],
    ["pkg.A", Status.SERVING],
    ["pkg.B", Status.NOT_SERVING],
  ])("checks %j", async (service, status) => {
    expect((await setUp().client.check({ service })).status).toBe(status);
  });

  it("does not find a service it does not know", async () => {
    await expect(setUp().client.check({ service: "pkg.C" })).rejects.toMatchObject({ code: Code.NotFound });
  });

  it("lists every service and the whole", async () => {
    const { statuses } = await setUp().client.list({});
    expect(Object.entries(statuses).map(([name, { status }]) => [name, status])).toEqual([
      ["", Status.SERVING],
      ["pkg.A", Status.SERVING],
      ["pkg.B", Status.NOT_SERVING],
    ]);
  });

  it("watches: the state first, then each change, an unknown service included", async () => {
    const { registry, client } = setUp();
    const stop = new AbortController();
    const watch = client.watch({ service: "pkg.C" }, { signal: stop.signal })[Symbol.asyncIterator]();
    expect((await watch.next()).value?.status).toBe(Status.SERVICE_UNKNOWN);
    const next = watch.next();
    registry.setServing("pkg.A", false);
    registry.setServing("pkg.C", true);
    expect((await next).value?.status).toBe(Status.SERVING);
    const last = watch.next();
    registry.drain();
    expect((await last).value?.status).toBe(Status.NOT_SERVING);
    const end = watch.next();
    stop.abort();
    await expect(end).rejects.toMatchObject({ code: Code.Canceled });
  });

  it("says that nothing serves while draining, whatever is set", async () => {
    const { registry, client } = setUp();
    registry.drain();
    registry.setServing("pkg.A", true);
    expect((await client.check({ service: "pkg.A" })).status).toBe(Status.NOT_SERVING);
    expect((await client.check({})).status).toBe(Status.NOT_SERVING);
  });
});
