import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLogger, systemClock } from "@trivium/core";
import { describe, expect, it } from "vitest";
import { McpServers } from "./mcp-servers.ts";
import { HttpTestServer } from "./testing/index.ts";
import { startTestProcess } from "./testing/start-test-process.ts";

const never = new AbortController().signal;

function open(url: string, headers: Record<string, string> = {}): McpServers {
  return new McpServers({
    servers: { test: { url, headers } },
    startProcess: startTestProcess,
    clock: systemClock,
    logger: silentLogger,
  });
}

const call = (servers: McpServers, name: string, input: Record<string, unknown> = {}) =>
  servers.callTool({ server: "test", name }, input, never);

describe("McpServers over HTTP", { timeout: 30_000 }, () => {
  it("calls tools, and ends its session with the server", async () => {
    await using server = await HttpTestServer.start();
    {
      await using servers = open(server.url);
      expect(await call(servers, "echo", { text: "hello" })).toMatchObject({
        content: [{ kind: "text", text: "hello" }],
        wasReconnected: false,
      });
      expect(server.sessionCount).toBe(1);
    }
    expect(server.sessionCount).toBe(0);
    expect(server.methods).toContain("DELETE");
  });

  it("connects again when the server has forgotten the session", async () => {
    await using server = await HttpTestServer.start();
    await using servers = open(server.url);
    await servers.connect("test", never);
    server.forgetSessions();
    expect(await call(servers, "echo", { text: "again" })).toMatchObject({
      content: [{ kind: "text", text: "again" }],
      wasReconnected: true,
    });
  });

  it("does not wait for an answer whose stream was cut", async () => {
    await using server = await HttpTestServer.start();
    await using servers = open(server.url);
    await servers.connect("test", never);
    const before = server.methods.length;
    const running = call(servers, "slow");
    while (server.methods.length === before) await new Promise((resolve) => setImmediate(resolve));
    server.cutConnections();
    expect(await running).toMatchObject({ kind: "failure", reason: "unavailable" });
  });

  it("tries once more after a protocol error, and then tells it", async () => {
    await using server = await HttpTestServer.start();
    await using servers = open(server.url);
    expect(await call(servers, "refuse")).toMatchObject({
      kind: "failure",
      reason: "refused",
      wasReconnected: true,
    });
  });

  it("sends the configured headers, and says when they do not suffice", async () => {
    await using server = await HttpTestServer.start();
    server.authorization = "Bearer right";
    await using wrong = open(server.url, { authorization: "Bearer wrong" });
    expect(await call(wrong, "echo")).toMatchObject({ kind: "failure", reason: "unauthorized" });
    await using right = open(server.url, { authorization: "Bearer right" });
    expect(await call(right, "echo", { text: "in" })).toMatchObject({ kind: "result" });
    server.authorization = "Bearer other";
    expect(await call(right, "echo")).toMatchObject({ kind: "failure", reason: "unauthorized" });
  });

  it("does not repeat its own headers, nor more than the beginning of an answer", async () => {
    await using server = await HttpTestServer.start();
    server.authorization = "Bearer right-token";
    server.refusal = `who is wrong-token? ${"x".repeat(100_000)}`;
    await using servers = open(server.url, { authorization: "Bearer wrong-token" });
    const outcome = await call(servers, "echo");
    expect(outcome).toMatchObject({
      kind: "failure",
      reason: "unauthorized",
      message: expect.stringContaining("REDACTED"),
    });
    const told = JSON.stringify([outcome, servers.status()]);
    expect(told).not.toContain("wrong-token");
    expect(told.length).toBeLessThan(10_000);
  });

  it("does not repeat a password of an address", async () => {
    await using servers = open("http://user:s3cret@127.0.0.1:1/mcp");
    const outcome = await call(servers, "echo");
    expect(outcome).toMatchObject({ reason: "unavailable", message: expect.stringContaining("header") });
    expect(JSON.stringify([outcome, servers.status()])).not.toContain("s3cret");
  });

  it("says that nobody listens", async () => {
    const server = await HttpTestServer.start();
    await server[Symbol.asyncDispose]();
    await using servers = open(server.url);
    const outcome = await call(servers, "echo");
    expect(outcome).toMatchObject({ kind: "failure", reason: "unavailable" });
  });

  it("takes over a changed list", async () => {
    await using server = await HttpTestServer.start();
    const updated = Promise.withResolvers<void>();
    await using servers = new McpServers({
      servers: { test: { url: server.url } },
      startProcess: startTestProcess,
      clock: systemClock,
      logger: silentLogger,
      onChange: ({ kind }) => kind === "updated" && updated.resolve(),
    });
    await servers.connect("test", never);
    // The server tells it over the stream that is opened after the greeting.
    while (!server.methods.includes("GET")) await new Promise((resolve) => setImmediate(resolve));
    await call(servers, "add_tool", { name: "fresh" });
    await updated.promise;
    expect(servers.tools().map(({ name }) => name)).toContain("fresh");
  });

  it.each([undefined, "sse" as const])(
    "talks to a server that knows only the older way (%s)",
    async (transport) => {
      await using server = await HttpTestServer.start({ isOlder: true });
      const updated = Promise.withResolvers<void>();
      await using servers = new McpServers({
        servers: { test: { url: server.url, transport } },
        startProcess: startTestProcess,
        clock: systemClock,
        logger: silentLogger,
        onChange: ({ kind }) => kind === "updated" && updated.resolve(),
      });
      expect(await call(servers, "echo", { text: "hello" })).toMatchObject({
        content: [{ kind: "text", text: "hello" }],
      });
      expect(server.methods[0]).toBe(transport === undefined ? "POST" : "GET");
      await call(servers, "add_tool", { name: "fresh" });
      await updated.promise;
      expect(servers.tools().map(({ name }) => name)).toContain("fresh");
      expect(server.sessionCount).toBe(1);
    },
  );

  it("does not wait for an answer over the older way when its stream was cut, and connects again", async () => {
    await using server = await HttpTestServer.start({ isOlder: true });
    await using servers = open(server.url);
    await servers.connect("test", never);
    const before = server.methods.length;
    const running = call(servers, "slow");
    while (server.methods.length === before) await new Promise((resolve) => setImmediate(resolve));
    server.cutConnections();
    expect(await running).toMatchObject({ kind: "failure", reason: "unavailable" });
    expect(await call(servers, "echo", { text: "again" })).toMatchObject({ wasReconnected: true });
  });

  it("tells what was said first when neither way works", async () => {
    const methods: (string | undefined)[] = [];
    const server = createServer(({ method }, response) => {
      methods.push(method);
      response.writeHead(404).end(`nothing to ${method}`);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => void server.close());
    const servers = cleanUp.use(open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    expect(await call(servers, "echo")).toMatchObject({
      kind: "failure",
      reason: "unavailable",
      message: expect.stringContaining("nothing to POST"),
    });
    expect(methods).toEqual(["POST", "GET"]);
  });
});
