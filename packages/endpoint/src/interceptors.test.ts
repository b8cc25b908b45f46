import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  createContextKey,
  type Interceptor,
} from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";

const userKey = createContextKey("nobody");

describe("interceptors", () => {
  it("run in order, may replace header, values and signal, and handlers see what they passed on", async () => {
    const order: string[] = [];
    const mine = new AbortController();
    const named =
      (name: string): Interceptor =>
      (next) =>
      (request) => {
        order.push(name);
        return next(request);
      };
    const replacing: Interceptor = (next) => (request) => {
      const header = new Headers(request.header);
      header.set("x-added", "yes");
      request.contextValues.set(userKey, "somebody");
      return next({ ...request, header, signal: mine.signal });
    };
    let seen: unknown;
    await using endpoint = createEndpoint({
      interceptors: [named("first"), replacing, named("second")],
      services: [
        (router) =>
          router.service(CrabCodeService, {
            listModels: (_request, context) => {
              seen = [
                context.requestHeader.get("x-added"),
                context.values.get(userKey),
                context.signal === mine.signal,
              ];
              context.responseHeader.set("x-head", "1");
              context.responseTrailer.set("x-tail", "2");
              return {};
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const metadata: (string | null)[] = [];
    await createClient(CrabCodeService, transport).listModels(
      {},
      {
        onHeader: (header) => metadata.push(header.get("x-head")),
        onTrailer: (trailer) => metadata.push(trailer.get("x-tail")),
      },
    );
    expect(order).toEqual(["first", "second"]);
    expect(seen).toEqual(["yes", "somebody", true]);
    expect(metadata).toEqual(["1", "2"]);
  });

  it("see handlers' errors as they are, and clients see those as a status with its metadata", async () => {
    const caught: unknown[] = [];
    await using endpoint = createEndpoint({
      interceptors: [
        (next) => async (request) => {
          try {
            return await next(request);
          } catch (thrown) {
            caught.push(thrown);
            throw thrown;
          }
        },
      ],
      services: [
        (router) =>
          router.service(CrabCodeService, {
            listModels: () => {
              throw new TriviumError("notFound", "no model named x");
            },
            healthCheck: () => {
              throw new ConnectError("slow down", Code.ResourceExhausted, { "retry-after": "5" });
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    for (const protocol of ["grpc", "grpc-web", "connect"] as const) {
      await using transport = createNodeTransport({ baseUrl: url, protocol });
      const client = createClient(CrabCodeService, transport);
      await expect(client.listModels({})).rejects.toMatchObject({
        code: Code.NotFound,
        rawMessage: "no model named x",
      });
      const error = await client.healthCheck({}).catch((thrown: unknown) => ConnectError.from(thrown));
      expect(error).toMatchObject({ code: Code.ResourceExhausted });
      expect((error as ConnectError).metadata.get("retry-after")).toBe("5");
    }
    expect(TriviumError.isInstance(caught[0])).toBe(true);
  });

  it("of one registration come after those of all, and do not replace them", async () => {
    const order: string[] = [];
    const named =
      (name: string): Interceptor =>
      (next) =>
      (request) => {
        order.push(name);
        return next(request);
      };
    await using endpoint = createEndpoint({
      interceptors: [named("all")],
      services: [
        (router) =>
          router.service(
            CrabCodeService,
            {
              listModels: () => {
                throw new TriviumError("notFound", "no model named x");
              },
            },
            { interceptors: [named("one")], readMaxBytes: 100 },
          ),
      ],
    });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    const client = createClient(CrabCodeService, transport);
    await expect(client.listModels({})).rejects.toMatchObject({ code: Code.NotFound });
    expect(order).toEqual(["all", "one"]);
    await expect(client.switchMode({ mode: "x".repeat(200) })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
  });

  it("leave a signal that is read after the end aborted", async () => {
    let signal: AbortSignal | undefined;
    await using endpoint = createEndpoint({
      services: [
        (router) =>
          router.service(CrabCodeService, {
            listModels: (_request, context) => {
              signal = context.signal;
              return {};
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    await using transport = createNodeTransport({ baseUrl: url });
    await createClient(CrabCodeService, transport).listModels({});
    expect(signal?.aborted).toBe(true);
  });
});

describe("registration", () => {
  it("refuses a method twice", () => {
    const routes = (router: ConnectRouter): void => void router.service(CrabCodeService, {});
    expect(() => createEndpoint({ services: [routes, routes] })).toThrow("registered twice");
  });
});
