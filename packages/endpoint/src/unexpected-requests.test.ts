import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { HealthCheckRequestSchema } from "@trivium/proto/health";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const MESSAGE = toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, {}));

describe("an endpoint that is asked for something else", () => {
  let endpoint: Endpoint;
  let url: string;

  beforeAll(async () => {
    endpoint = createEndpoint({ services: [(router) => router.service(CrabCodeService, {})] });
    ({ url } = await endpoint.listen());
  });
  afterAll(() => endpoint.close());

  it.each([
    ["no message for a unary call", CHECK, {}, [], Code.Unimplemented],
    ["two messages for a unary call", CHECK, {}, [envelope(MESSAGE), envelope(MESSAGE)], Code.Unimplemented],
    ["no message for a server-streaming call", WATCH, {}, [], Code.Unimplemented],
    [
      "two messages for a server-streaming call",
      WATCH,
      {},
      [envelope(MESSAGE), envelope(MESSAGE)],
      Code.Unimplemented,
    ],
    ["an unknown method", "/grpc.health.v1.Health/Nope", {}, [envelope(MESSAGE)], Code.Unimplemented],
    ["an unknown service", "/nope.Nope/Nope", {}, [envelope(MESSAGE)], Code.Unimplemented],
    [
      "a method that is declared and not implemented",
      "/crabcode.CrabCodeService/ListModels",
      {},
      [envelope(MESSAGE)],
      Code.Unimplemented,
    ],
    ["an unknown compression", CHECK, { "grpc-encoding": "lzma" }, [envelope(MESSAGE)], Code.Unimplemented],
    [
      "a compressed message without an encoding",
      CHECK,
      {},
      [envelope(gzipSync(Buffer.from([])), 1)],
      Code.Internal,
    ],
    [
      "a message that is not gzip",
      CHECK,
      { "grpc-encoding": "gzip" },
      [envelope(Buffer.from("nope"), 1)],
      Code.InvalidArgument,
    ],
    ["half an envelope", CHECK, {}, [envelope(MESSAGE).subarray(0, 3)], Code.InvalidArgument],
    ["a malformed timeout", CHECK, { "grpc-timeout": "soon" }, [envelope(MESSAGE)], Code.InvalidArgument],
  ])("answers %s over gRPC without hanging", async (...row) => {
    const [, path, headers, frames, code] = row;
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, path, headers);
    for (const frame of frames) stream.write(frame);
    stream.end();
    const { headers: head, trailers } = await answerOf(stream);
    expect(head[":status"]).toBe(200);
    expect(Number(head["grpc-status"] ?? trailers["grpc-status"])).toBe(code);
  });

  it("sends errors before the first message as trailers only", async () => {
    await using client = await rawHttp2(url);
    const stream = openCall(client.session, "/nope.Nope/Nope");
    stream.end(envelope(MESSAGE));
    const { headers, body } = await answerOf(stream);
    expect(headers).toMatchObject({ "content-type": "application/grpc", "grpc-status": "12" });
    expect(body).toHaveLength(0);
  });

  it.each([
    ["an unknown codec", "POST", { "content-type": "application/grpc+thrift" }, 415],
    ["another content type", "POST", { "content-type": "text/plain" }, 415],
    ["a wrong verb", "PUT", { "content-type": "application/json" }, 405],
    ["a GET of a method with side effects", "GET", {}, 405],
  ])("answers %s with the HTTP status", async (...row) => {
    const [, method, headers, status] = row;
    await using client = await rawHttp2(url);
    const stream = client.session.request({ ":method": method, ":path": CHECK, ...headers });
    stream.on("error", () => {});
    stream.end(method === "GET" ? undefined : envelope(MESSAGE));
    expect((await answerOf(stream)).headers[":status"]).toBe(status);
  });

  it("answers gRPC over HTTP/1.1 with 505 and closes", async () => {
    const response = await fetch(`${url}${CHECK}`, {
      method: "POST",
      headers: { "content-type": "application/grpc" },
      body: envelope(MESSAGE),
    });
    expect(response.status).toBe(505);
    expect(response.headers.get("connection")).toBe("close");
  });

  it("answers a bidi call over HTTP/1.1 with 505", async () => {
    const response = await fetch(`${url}/grpc.reflection.v1.ServerReflection/ServerReflectionInfo`, {
      method: "POST",
      headers: { "content-type": "application/connect+proto" },
      body: envelope(new Uint8Array()),
    });
    expect(response.status).toBe(505);
  });

  it("answers an unknown path with 404", async () => {
    expect((await fetch(`${url}/nope`)).status).toBe(404);
    const post = await fetch(`${url}/nope.Nope/Nope`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(post.status).toBe(404);
  });

  it("answers malformed JSON with invalid_argument", async () => {
    const response = await fetch(`${url}${CHECK}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_argument" });
  });

  it.each(["*", "//evil", "http://[", ""])("survives the request target %j", async (path) => {
    await using client = await rawHttp2(url);
    const stream = client.session.request({ ":method": "OPTIONS", ":path": path });
    stream.on("error", () => {});
    stream.end();
    await answerOf(stream);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
