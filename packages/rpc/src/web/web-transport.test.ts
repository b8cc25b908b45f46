import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { Health } from "@trivium/proto/health";
import { describe, expect, it } from "vitest";
import { createWebTransport } from "./web-transport.ts";

describe("createWebTransport", () => {
  it.each([
    [undefined, "application/grpc-web+proto"],
    ["grpc-web", "application/grpc-web+proto"],
    ["connect", "application/proto"],
  ] as const)("speaks %s in the binary format and presents its token", async (protocol, contentType) => {
    const requests: Request[] = [];
    const transport = createWebTransport({
      baseUrl: "https://server.example",
      protocol,
      token: "secret",
      fetch: (input, init) => {
        requests.push(new Request(input, init));
        return Promise.resolve(new Response("no", { status: 403 }));
      },
    });
    const error = await createClient(Health, transport)
      .check({})
      .catch((thrown: unknown) => ConnectError.from(thrown));
    expect(error).toMatchObject({ code: Code.PermissionDenied });
    const [request] = requests;
    expect(request?.url).toBe("https://server.example/grpc.health.v1.Health/Check");
    expect(request?.headers.get("content-type")).toBe(contentType);
    expect(request?.headers.get("authorization")).toBe("Bearer secret");
  });

  it("runs interceptors, the first outermost", async () => {
    const order: string[] = [];
    const transport = createWebTransport({
      baseUrl: "https://server.example",
      interceptors: ["first", "second"].map((name) => (next) => (request) => {
        order.push(name);
        return next(request);
      }),
      fetch: () => Promise.resolve(new Response(null, { status: 503 })),
    });
    await expect(createClient(Health, transport).check({})).rejects.toMatchObject({ code: Code.Unavailable });
    expect(order).toEqual(["first", "second"]);
  });
});
