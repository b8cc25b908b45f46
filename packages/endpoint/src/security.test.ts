import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpRequest } from "node:http";
import { createClient } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { Health } from "@trivium/proto/health";
import { fromConnectError } from "@trivium/rpc";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import { shapesService } from "./testing/shapes.ts";

const TOKEN = "correct horse";

describe("the token", () => {
  const auth = { token: TOKEN, publicMethods: ["crabcode.CrabCodeService/HealthCheck"] };

  it.each([
    ["the bearer form", `Bearer ${TOKEN}`],
    ["another case of the scheme", `bEaReR ${TOKEN}`],
    ["the basic form", `Basic ${Buffer.from(`crabcode:${TOKEN}`).toString("base64")}`],
  ])("is accepted in %s", async (_form, authorization) => {
    await using server = await listening({ auth });
    expect((await post(server.url, LIST_MODELS, { authorization })).status).toBe(200);
  });

  it.each([
    ["nothing", undefined],
    ["an empty header", ""],
    ["a wrong token", "Bearer wrong"],
    ["a prefix of the token", `Bearer ${TOKEN.slice(0, -1)}`],
    ["the token and more", `Bearer ${TOKEN}x`],
    ["another user", `Basic ${Buffer.from(`admin:${TOKEN}`).toString("base64")}`],
    ["the bare token", TOKEN],
    ["another scheme", `Digest ${TOKEN}`],
  ])("is missed in %s", async (_what, authorization) => {
    await using server = await listening({ auth });
    const response = await post(
      server.url,
      LIST_MODELS,
      authorization === undefined ? {} : { authorization },
    );
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: "unauthenticated" });
  });

  it.each(["grpc", "grpc-web", "connect"] as const)(
    "is presented by our transport over %s",
    async (protocol) => {
      await using server = await listening({ auth });
      await using transport = createNodeTransport({ baseUrl: server.url, protocol, token: TOKEN });
      await expect(createClient(CrabCodeService, transport).listModels({})).resolves.toBeDefined();
      await using stranger = createNodeTransport({ baseUrl: server.url, protocol });
      const error = await createClient(CrabCodeService, stranger).listModels({}).catch(fromConnectError);
      expect(error).toMatchObject({ kind: "unauthenticated" });
      const stream = createClient(CrabCodeService, stranger).sendMessage({})[Symbol.asyncIterator]();
      await expect(stream.next().catch(fromConnectError)).resolves.toMatchObject({ kind: "unauthenticated" });
    },
  );

  it("is not needed for health, the methods that say so, and probes; it is for the rest", async () => {
    await using server = await listening({
      auth,
      routes: [
        { path: "/public", isPublic: true, handle: () => new Response("hello") },
        { path: "/private", handle: () => new Response("hello") },
      ],
    });
    await using transport = createNodeTransport({ baseUrl: server.url });
    await createClient(Health, transport).check({});
    await createClient(CrabCodeService, transport).healthCheck({});
    const statuses: Record<string, number> = {};
    for (const path of ["/healthz", "/readyz", "/metrics", "/public", "/private", "/nope"]) {
      statuses[path] = (await fetch(`${server.url}${path}`)).status;
    }
    expect(statuses).toEqual({
      "/healthz": 200,
      "/readyz": 200,
      "/metrics": 401,
      "/public": 200,
      "/private": 401,
      "/nope": 401,
    });
  });

  it("is needed to listen beyond loopback", async () => {
    await using endpoint = createEndpoint({ services: [] });
    const error = await endpoint.listen({ host: "0.0.0.0" }).catch((thrown: unknown) => thrown);
    expect(TriviumError.isInstance(error) && error.kind).toBe("failedPrecondition");
    await using blank = createEndpoint({ services: [], auth: { token: "" } });
    await expect(blank.listen({ host: "::" })).rejects.toThrow("needs a token");
    await using guarded = createEndpoint({ services: [], auth });
    await expect(guarded.listen({ host: "0.0.0.0" })).resolves.toMatchObject({ address: "0.0.0.0" });
  });
});

describe("the Host check", () => {
  it.each([
    ["localhost", 200],
    ["LOCALHOST:80", 200],
    ["dashboard.localhost:7411", 200],
    ["127.0.0.1", 200],
    ["[::1]:7411", 200],
    ["rebound.example", 403],
    ["127.0.0.1.rebound.example", 403],
    ["localhost.example", 403],
    ["local host", 403],
  ])("answers a request for %s with %i on loopback", async (host, status) => {
    await using server = await listening({});
    expect((await rawGet(server.port, "/healthz", { host })).statusCode).toBe(status);
  });

  it("admits the names it is told", async () => {
    await using server = await listening({ allowedHosts: ["trivium.example"] });
    expect((await rawGet(server.port, "/healthz", { host: "trivium.example:443" })).statusCode).toBe(200);
    expect((await rawGet(server.port, "/healthz", { host: "localhost" })).statusCode).toBe(403);
  });

  it("covers RPCs over HTTP/2", async () => {
    await using server = await listening({});
    await using transport = createNodeTransport({
      baseUrl: server.url,
      interceptors: [
        (next) => (request) => {
          request.header.set("host", "rebound.example");
          return next(request);
        },
      ],
    });
    const error = await createClient(Health, transport).check({}).catch(fromConnectError);
    expect(error).toMatchObject({ kind: "permissionDenied" });
  });
});

describe("the Origin check", () => {
  const origin = "https://app.example";

  it("refuses a page of another origin before its call does anything", async () => {
    await using server = await listening({});
    const response = await post(server.url, LIST_MODELS, { origin: "https://evil.example" });
    expect(response.status).toBe(403);
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
    expect((await post(server.url, LIST_MODELS, { origin: "null" })).status).toBe(403);
  });

  it("admits the endpoint's own origin and those it is told", async () => {
    await using server = await listening({ allowedOrigins: [origin] });
    for (const allowed of [origin, server.url]) {
      const response = await post(server.url, LIST_MODELS, { origin: allowed });
      expect(response.status).toBe(200);
      expect(response.headers.get("access-control-allow-origin")).toBe(allowed);
    }
  });

  it("answers a preflight with everything the protocols need", async () => {
    await using server = await listening({
      allowedOrigins: [origin],
      allowHeaders: ["X-Extra"],
      auth: { token: TOKEN },
    });
    const response = await fetch(`${server.url}${LIST_MODELS}`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("access-control-allow-methods")).toBe("POST, GET");
    expect(response.headers.get("access-control-max-age")).toBe("7200");
    expect(response.headers.get("vary")).toBe("origin");
    const allowed = response.headers.get("access-control-allow-headers")?.split(", ");
    expect(allowed).toEqual(
      expect.arrayContaining([
        "authorization",
        "content-type",
        "x-grpc-web",
        "connect-protocol-version",
        "x-extra",
      ]),
    );
    expect(allowed).not.toContain("*");
  });

  it.each([
    ["a success", {}, 200],
    ["a refused token", { authorization: "Bearer wrong" }, 401],
  ])("puts CORS headers on %s", async (_what, headers, status) => {
    await using server = await listening({
      allowedOrigins: [origin],
      exposeHeaders: ["X-Cost"],
      ...(status === 401 && { auth: { token: TOKEN } }),
    });
    const response = await post(server.url, LIST_MODELS, { origin, ...headers });
    expect(response.status).toBe(status);
    const exposed = response.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(
      expect.arrayContaining([
        "grpc-status",
        "grpc-message",
        "grpc-status-details-bin",
        "x-request-id",
        "x-cost",
        "trailer-x-cost",
      ]),
    );
  });

  it("puts CORS headers on an unknown path", async () => {
    await using server = await listening({ allowedOrigins: [origin] });
    const response = await fetch(`${server.url}/nope`, { headers: { origin } });
    expect(response.status).toBe(404);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
  });

  it("covers Connect GETs, which browsers send without a preflight and as images without an Origin", async () => {
    let looks = 0;
    await using server = await listening({}, [
      shapesService({
        look(request) {
          looks++;
          return request;
        },
      }),
    ]);
    const url = `${server.url}/test.Shapes/Look?connect=v1&encoding=json&message=${encodeURIComponent('"aGk="')}`;
    const plain = await fetch(url);
    expect(await plain.json()).toBe("aGk=");
    expect((await fetch(url, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    const target = url.slice(server.url.length);
    const image = await rawGet(server.port, target, { host: "localhost", "sec-fetch-site": "cross-site" });
    expect(image.statusCode).toBe(403);
    expect(looks).toBe(1);
  });
});

const LIST_MODELS = "/crabcode.CrabCodeService/ListModels";

async function listening(
  options: Omit<EndpointOptions, "services">,
  services: EndpointOptions["services"] = [],
): Promise<{ url: string; port: number } & AsyncDisposable> {
  const endpoint: Endpoint = createEndpoint({
    ...options,
    services: [
      (router) => router.service(CrabCodeService, { listModels: () => ({}), healthCheck: () => ({}) }),
      ...services,
    ],
  });
  const { url, port } = await endpoint.listen();
  return { url, port, [Symbol.asyncDispose]: () => endpoint.close() };
}

function post(url: string, path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  });
}

/** `fetch` sets these headers itself. */
async function rawGet(port: number, path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const request = httpRequest({ port, host: "127.0.0.1", path, headers, agent: false });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response;
}
