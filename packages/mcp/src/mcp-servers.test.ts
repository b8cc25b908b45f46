import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { silentLogger, systemClock } from "@trivium/core";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { McpServers, type McpServersOptions } from "./mcp-servers.ts";
import { testImage, testServerCommand } from "./testing/index.ts";
import { startTestProcess } from "./testing/start-test-process.ts";

const never = new AbortController().signal;

function open(options: Partial<McpServersOptions> = {}): McpServers {
  return new McpServers({
    servers: { test: testServerCommand() },
    startProcess: startTestProcess,
    clock: systemClock,
    logger: silentLogger,
    ...options,
  });
}

const call = (servers: McpServers, name: string, input: Record<string, unknown> = {}) =>
  servers.callTool({ server: "test", name }, input, never);

const textOf = (outcome: Awaited<ReturnType<typeof call>>): string =>
  outcome.kind === "failure" ? outcome.message : JSON.stringify(outcome.content);

/** Waits with a clock that moves: programs take real time to start, so that no one moment is the right one. */
async function settledWhileAdvancing<Value>(promise: Promise<Value>, clock: ManualClock): Promise<Value> {
  let isSettled = false;
  const onSettled = (): void => {
    isSettled = true;
  };
  promise.then(onSettled, onSettled);
  while (!isSettled) await clock.advance(500);
  return await promise;
}

describe("McpServers over a program", { timeout: 30_000 }, () => {
  it("connects at the first call and tells what the tool answers", async () => {
    await using servers = open();
    expect(servers.status()).toEqual([{ name: "test", state: "idle", toolCount: 0, error: undefined }]);
    const outcome = await call(servers, "echo", { text: "hello" });
    expect(outcome).toEqual({
      kind: "result",
      content: [{ kind: "text", text: "hello" }],
      structured: undefined,
      isError: false,
      wasReconnected: false,
    });
    expect(servers.status()).toMatchObject([{ state: "ready" }]);
  });

  it("lists the tools with what the server says of them", async () => {
    await using servers = open();
    servers.start();
    await servers.settled(20_000, never);
    const tools = servers.tools();
    expect(tools.find(({ name }) => name === "echo")).toMatchObject({
      server: "test",
      description: "Answers with the text it was given.",
      inputSchema: { properties: { text: { type: "string" } } },
      hints: { readOnly: false, idempotent: false },
    });
    expect(tools.find(({ name }) => name === "crash_once")?.hints.readOnly).toBe(true);
  });

  it.each([
    [
      "image",
      [
        { kind: "text", text: "a red dot" },
        { kind: "image", data: testImage, mimeType: "image/png" },
      ],
    ],
    ["resource", [{ kind: "resource", value: { uri: "test://document", text: "content" } }]],
    ["structured", []],
  ])("hands on the content of %s", async (name, content) => {
    await using servers = open();
    expect(await call(servers, name)).toMatchObject({ kind: "result", content, isError: false });
  });

  it("tells a tool's own error as a result and a protocol error as a failure", async () => {
    await using servers = open();
    expect(await call(servers, "fail", { message: "no" })).toMatchObject({ kind: "result", isError: true });
    const refused = await call(servers, "refuse");
    expect(refused).toMatchObject({ kind: "failure", reason: "refused" });
    expect(textOf(refused)).toContain("refused by the server");
  });

  it("takes answers of several megabytes", async () => {
    await using servers = open();
    const outcome = await call(servers, "huge", { bytes: 5_000_000 });
    expect(textOf(outcome).length).toBeGreaterThan(5_000_000);
  });

  it("connects again after the program has died, and says so", async () => {
    await using folder = await temporaryFolder();
    await using servers = open();
    const outcome = await call(servers, "crash_once", { file: `${folder.path}/crashed` });
    expect(outcome).toMatchObject({ kind: "result", wasReconnected: true });
    expect(textOf(outcome)).toContain("survived");
  });

  it("does not call a tool twice that may have done something", async () => {
    const changes: string[] = [];
    await using servers = open({ onChange: ({ kind }) => changes.push(kind) });
    const outcome = await call(servers, "crash");
    expect(outcome).toMatchObject({ kind: "failure", reason: "unavailable", wasReconnected: false });
    expect(textOf(outcome)).toContain("not called a second time");
    expect(await call(servers, "echo", { text: "back" })).toMatchObject({
      kind: "result",
      wasReconnected: true,
    });
    expect(changes).toEqual(["connected", "disconnected", "connected"]);
  });

  it("takes over a changed list", async () => {
    const updated = Promise.withResolvers<number>();
    await using servers = open({
      onChange: ({ kind, toolCount }) => kind === "updated" && updated.resolve(toolCount),
    });
    await call(servers, "add_tool", { name: "fresh" });
    const toolCount = await updated.promise;
    expect(servers.tools().map(({ name }) => name)).toContain("fresh");
    expect(toolCount).toBe(servers.tools().length);
  });

  it("ends a call at its time, and tells the server", async () => {
    await using folder = await temporaryFolder();
    const file = `${folder.path}/cancelled`;
    await using servers = open({
      servers: { test: { ...testServerCommand(), toolTimeoutsMs: { slow: 300 } } },
    });
    await servers.connect("test", never);
    const outcome = await call(servers, "slow", { cancelled_file: file });
    expect(outcome).toMatchObject({
      kind: "failure",
      reason: "timed-out",
      message: "no answer within 300 ms",
    });
    // The same server answers: the connection has outlived the call.
    expect(await call(servers, "echo", { text: "x" })).toMatchObject({ wasReconnected: false });
    // The server may be told of both at once.
    while (!existsSync(file)) await new Promise((resolve) => setImmediate(resolve));
    expect(await readFile(file, "utf8")).toBe("cancelled");
  });

  it("throws the reason of a cancelled call", async () => {
    await using servers = open();
    await servers.connect("test", never);
    const controller = new AbortController();
    const running = servers.callTool({ server: "test", name: "slow" }, {}, controller.signal);
    controller.abort(new Error("nobody waits"));
    await expect(running).rejects.toThrow("nobody waits");
  });

  it("does not repeat a secret variable that a program prints", async () => {
    const script = "process.stderr.write(process.env.API_TOKEN); process.exitCode = 7";
    const server = { command: process.execPath, args: ["-e", script], env: { API_TOKEN: "s3cret-token" } };
    await using servers = open({ servers: { test: server } });
    const outcome = await call(servers, "echo");
    expect(textOf(outcome)).toContain("last words: ***REDACTED***");
    expect(JSON.stringify(servers.status())).not.toContain("s3cret-token");
  });

  it.each([
    ["endless empty pages", "[]", "more than 500 pages"],
    ["pages of many tools", "Array(3000).fill({ name: 't', inputSchema: { type: 'object' } })", undefined],
  ])("does not read %s for ever", async (_what, tools, error) => {
    const server = { command: process.execPath, args: ["-e", pagingServer(tools)] };
    await using servers = open({ servers: { test: server } });
    servers.start();
    await servers.settled(20_000, never);
    expect(servers.status()[0]?.error ?? "").toContain(error ?? "");
    expect(servers.tools().length).toBe(error === undefined ? 5000 : 0);
  });

  it("asks a server that changes its tools all the time now and then", async () => {
    const clock = new ManualClock();
    let updateCount = 0;
    const updates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const servers = open({
      servers: { test: { command: process.execPath, args: ["-e", restlessServer] } },
      clock,
      onChange: ({ kind }) => kind === "updated" && updates[updateCount++]?.resolve(),
    });
    await servers.connect("test", never);
    await updates[0]?.promise;
    // Each answer tells of what the server was asked before it.
    for (let count = 0; count < 5; count += 1) {
      expect(textOf(await call(servers, "lists"))).toContain("asked 2 times");
    }
    await clock.advance(1000);
    await updates[1]?.promise;
    expect(textOf(await call(servers, "lists"))).toContain("asked 3 times");
    await settledWhileAdvancing(servers[Symbol.asyncDispose](), clock);
  });

  it("says why a server cannot be used", async () => {
    const exits = { ...testServerCommand(), env: { MCP_TEST_START: "exit" } };
    await using servers = open({ servers: { test: exits, missing: { command: "/no/such/program" } } });
    servers.start();
    await servers.settled(20_000, never);
    const [test, missing] = servers.status();
    expect(test).toMatchObject({ state: "failed", toolCount: 0 });
    expect(test?.error).toMatch(/exit code 7.*the test server starts/);
    expect(missing).toMatchObject({ state: "failed" });
    expect(await call(servers, "echo")).toMatchObject({ kind: "failure", reason: "unavailable" });
  });

  it("tries servers that failed again when it is told to, not at once", async () => {
    const clock = new ManualClock();
    let isInstalled = false;
    let startCount = 0;
    await using servers = open({
      clock,
      async startProcess(...args) {
        startCount += 1;
        if (!isInstalled) throw new Error("not installed");
        return startTestProcess(...args);
      },
    });
    servers.retry(0);
    expect(startCount).toBe(0);
    servers.start();
    await servers.settled(1000, never);
    servers.retry(30_000);
    await clock.advance(29_999);
    servers.retry(30_000);
    expect(startCount).toBe(1);
    isInstalled = true;
    await clock.advance(1);
    servers.retry(30_000);
    await servers.settled(1000, never);
    expect(servers.status()).toMatchObject([{ state: "starting" }]);
    await servers.connect("test", never);
    expect(startCount).toBe(2);
    expect(servers.tools().length).toBeGreaterThan(0);
    await settledWhileAdvancing(servers[Symbol.asyncDispose](), clock);
  });

  it("gives up a server that does not begin to talk", async () => {
    const clock = new ManualClock();
    const hangs = { ...testServerCommand(), env: { MCP_TEST_START: "hang" }, startupTimeoutMs: 5000 };
    const servers = open({ servers: { test: hangs }, clock });
    const refused = settledWhileAdvancing(servers.connect("test", never), clock);
    await expect(refused).rejects.toThrow("not ready within 5000 ms");
    expect(servers.status()).toMatchObject([{ state: "failed", error: "it was not ready within 5000 ms" }]);
    await servers[Symbol.asyncDispose]();
  });

  it("waits for servers only as long as it may", async () => {
    const clock = new ManualClock();
    const servers = open({
      servers: { test: { ...testServerCommand(), env: { MCP_TEST_START: "hang" } } },
      clock,
    });
    servers.start();
    const settled = servers.settled(2000, never);
    await clock.advance(2000);
    await settled;
    expect(servers.status()).toMatchObject([{ state: "starting" }]);
    await settledWhileAdvancing(servers[Symbol.asyncDispose](), clock);
  });

  it("ends running calls and programs when it is disposed", async () => {
    let ended: Promise<unknown> | undefined;
    const servers = open({
      async startProcess(...args) {
        const program = await startTestProcess(...args);
        ended = program.ended;
        return program;
      },
    });
    await servers.connect("test", never);
    const running = call(servers, "slow");
    await servers[Symbol.asyncDispose]();
    expect(await running).toMatchObject({ kind: "failure", reason: "unavailable" });
    await ended;
    expect(servers.status()).toMatchObject([{ state: "closed" }]);
  });

  it("refuses a server that is not configured, and an address that is none", async () => {
    await using servers = open();
    await expect(servers.callTool({ server: "nope", name: "x" }, {}, never)).rejects.toThrow(
      "no MCP server named nope; configured are: test",
    );
    expect(() => open({ servers: { web: { url: "file:///etc/passwd" } } })).toThrow(
      "not an http or https URL",
    );
  });
});

/** Source of a program whose list of tools never ends; each page holds `tools`. */
function pagingServer(tools: string): string {
  return `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const hello = {
        protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" },
      };
      const result = method === "initialize" ? hello : { tools: ${tools}, nextCursor: "more" };
      console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });`;
}

/** Source of a program that tells of changed tools with every list of them. */
const restlessServer = `
  let lists = 0;
  const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "initialize") {
      const capabilities = { tools: { listChanged: true } };
      say({ id, result: { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "r", version: "1" } } });
    } else if (method === "tools/list") {
      lists += 1;
      say({ id, result: { tools: [{ name: "lists", inputSchema: { type: "object" } }] } });
      say({ method: "notifications/tools/list_changed" });
    } else if (method === "tools/call") {
      say({ id, result: { content: [{ type: "text", text: "asked " + lists + " times" }] } });
    }
  });`;
