import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { type Client, Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds, temporaryFolder } from "@trivium/core/testing";
import {
  builtInTools,
  createGrokToolsRuntime,
  createToolRegistry,
  defineTool,
  type GrokToolsRuntime,
  type GrokToolsRuntimeOptions,
} from "@trivium/grok-tools-runtime";
import { ErrorCode, GrokToolsService } from "@trivium/proto/grok-tools";
import { errorInterceptor } from "@trivium/rpc";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { grokToolsService } from "../grok-tools-service.ts";
import { fakeCallbackHost } from "../testing/callback-host.ts";
import { type CallbackDialerOptions, createCallbackDialer } from "./callback-dialer.ts";

/** Tells the host what it is given. */
const tell = defineTool({
  id: "Sample:tell",
  kind: "other",
  capabilities: { readOnly: true },
  description: "Tells.",
  input: z.object({ words: z.array(z.string()) }),
  output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
  run: ({ words }, scope) => {
    for (const word of words)
      scope.notify({ type: "LspServerFailed", server_name: word, error: "", attempts: 0 });
    return Promise.resolve({ output: { type: "Text" }, promptText: "" });
  },
});

interface Served extends AsyncDisposable {
  readonly client: Client<typeof GrokToolsService>;
  readonly runtime: GrokToolsRuntime;
}

async function serve(
  dialer: CallbackDialerOptions = {},
  overrides: Partial<GrokToolsRuntimeOptions> & { required?: boolean } = {},
): Promise<Served> {
  const folder = await temporaryFolder();
  const notUsed = (): never => {
    throw new Error("no tool of this test runs programs");
  };
  const { required = false, ...options } = overrides;
  const runtime = createGrokToolsRuntime({
    registry: createToolRegistry([...builtInTools, tell]),
    workspace: folder.path,
    dataDir: `${folder.path}/data`,
    commandRunner: { start: notUsed, containment: notUsed, stats: notUsed, [Symbol.asyncDispose]: notUsed },
    programRunner: { run: notUsed },
    ids: sequentialIds(),
    logger: silentLogger,
    callbacks: { dialer: createCallbackDialer(dialer), required },
    ...options,
  });
  const transport = createRouterTransport(grokToolsService({ runtime }), {
    router: { interceptors: [errorInterceptor] },
  });
  return {
    client: createClient(GrokToolsService, transport),
    runtime,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const tools = ["GrokBuild:task", "GrokBuild:get_task_output", "GrokBuild:kill_task", "Sample:tell"].map(
  (id) => ({
    id,
  }),
);
const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 5_000, interval: 5 });

function spawn(client: Served["client"], input: object, options: { signal?: AbortSignal } = {}) {
  const inputJson = JSON.stringify({ prompt: "Look.", description: "look around", ...input });
  return client.executeTool(
    { toolName: "task", inputJson },
    { ...options, headers: { "x-grok-prompt-id": "turn-1" } },
  );
}

describe("a session with a callback service", () => {
  it("says that it is connected and for what", async () => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    const { callbackStatus } = await served.client.finalizeToolConfigRequest({
      tools,
      clientCallbackAddr: host.address,
    });
    expect(callbackStatus).toMatchObject({ connected: true, activeSurfaces: ["notifications", "subagents"] });
  });

  it("sends notifications in order, numbered from 1, with secret and session id", async () => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({
      tools,
      clientCallbackAddr: `http://${host.address}`,
      clientCallbackSecret: "s3cret",
      sessionId: "own-id",
    });
    await served.client.executeTool({ toolName: "tell", inputJson: '{"words":["a","b","c"]}' });
    await until(() => expect(host.notifications).toHaveLength(3));
    expect(host.notifications.map(({ sequence }) => sequence)).toEqual([1n, 2n, 3n]);
    expect(host.notifications.map((each) => JSON.parse(each.notificationJson).server_name)).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(host.notifications[0]).toMatchObject({ sessionId: "own-id" });
    expect(host.headers[0]?.get("authorization")).toBe("Bearer s3cret");
    expect(host.headers[0]?.get("x-grok-session-id")).toBe("own-id");
  });

  it("sends no authorization without a secret", async () => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: host.address });
    await served.client.executeTool({ toolName: "tell", inputJson: '{"words":["a"]}' });
    await until(() => expect(host.notifications).toHaveLength(1));
    expect(host.headers[0]?.has("authorization")).toBe(false);
  });

  it("tries a notification three times under one number, then goes on with the next", async () => {
    await using host = await fakeCallbackHost();
    host.refusals.push(Code.Internal, Code.Internal, Code.Internal);
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: host.address });
    await served.client.executeTool({ toolName: "tell", inputJson: '{"words":["a","b"]}' });
    await until(() => expect(host.notifications.map(({ sequence }) => sequence)).toEqual([1n, 1n, 1n, 2n]));
  });

  it("keeps what waits while the host is away", async () => {
    const first = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: first.address });
    await served.client.executeTool({ toolName: "tell", inputJson: '{"words":["a"]}' });
    await until(() => expect(first.notifications).toHaveLength(1));
    first.die();
    await served.client.executeTool({ toolName: "tell", inputJson: '{"words":["b","c"]}' });
    await using second = await fakeCallbackHost(first.port);
    await until(() => expect(second.notifications.map(({ sequence }) => sequence)).toEqual([2n, 3n]));
  });

  it("runs a subagent and gives its result", async () => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({
      tools,
      clientCallbackAddr: host.address,
      sessionId: "parent",
    });
    const answer = spawn(served.client, {
      run_in_background: false,
      subagent_type: "explore",
      task_id: "child-7",
    });
    await until(() => expect(host.subagents).toHaveLength(1));
    const [child] = host.subagents;
    expect(child?.request).toMatchObject({
      id: "child-7",
      prompt: "Look.",
      description: "look around",
      subagentType: "explore",
      parentSessionId: "parent",
      parentPromptId: "turn-1",
      toolNames: [],
    });
    expect(child?.request.systemPrompt).toContain("subagent");
    child?.answer({ success: true, output: "found it" });
    const { result } = await answer;
    expect(result.case).toBe("success");
    if (result.case !== "success") return;
    expect(JSON.parse(result.value.outputJson)).toMatchObject({
      type: "SubagentCompleted",
      output: "found it",
    });
    expect(result.value.promptText).toContain('resume_from="child-7"');
  });

  it.each([
    ["a failure it reports", { success: false, error: "no luck" }, [ErrorCode.EXECUTION_FAILED, "no luck"]],
    ["a cancellation, which wins", { success: true, cancelled: true }, [ErrorCode.CANCELLED, "cancelled"]],
  ] as const)("answers %s with an error", async (_what, result, [code, message]) => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: host.address });
    const answer = spawn(served.client, { run_in_background: false });
    await until(() => expect(host.subagents).toHaveLength(1));
    host.subagents[0]?.answer(result);
    const value = { code, message: expect.stringContaining(message) };
    expect((await answer).result).toMatchObject({ case: "error", value });
  });

  it("sends a subagent once more when the host has not looked at it, and not again when it has", async () => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: host.address });
    host.unprocessed = 1;
    const answer = spawn(served.client, { run_in_background: false });
    await until(() => expect(host.subagents).toHaveLength(1));
    expect(host.unprocessed).toBe(0);
    host.subagents[0]?.answer({ success: true, output: "done" });
    expect((await answer).result).toMatchObject({ case: "success" });
    const failing = spawn(served.client, { run_in_background: false });
    await until(() => expect(host.subagents).toHaveLength(2));
    host.subagents[1]?.fail(Code.Unavailable, "overloaded");
    expect((await failing).result).toMatchObject({
      case: "error",
      value: { code: ErrorCode.EXECUTION_FAILED, message: expect.stringContaining("overloaded") },
    });
    expect(host.subagents).toHaveLength(2);
  });

  it("cancels the host's call when the waiting call is cancelled", async () => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: host.address });
    const controller = new AbortController();
    const answer = spawn(served.client, { run_in_background: false }, { signal: controller.signal });
    await until(() => expect(host.subagents).toHaveLength(1));
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: Code.Canceled });
    await until(() => expect(host.subagents[0]?.signal.aborted).toBe(true));
  });

  it("reports a child whose host died as failed", async () => {
    await using host = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: host.address });
    const answer = spawn(served.client, { run_in_background: false });
    await until(() => expect(host.subagents).toHaveLength(1));
    host.die();
    expect((await answer).result).toMatchObject({
      case: "error",
      value: { code: ErrorCode.EXECUTION_FAILED },
    });
    const next = await spawn(served.client, {});
    expect(next.result).toMatchObject({
      case: "error",
      value: { code: ErrorCode.EXECUTION_FAILED, retryable: true },
    });
    if (next.result.case === "error") {
      expect(JSON.parse(next.result.value.detailsJson ?? "")).toMatchObject({ code: "callback_unreachable" });
    }
  });

  it("starts a subagent on a host that was started anew while nothing ran", async () => {
    const first = await fakeCallbackHost();
    await using served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: first.address });
    await served.client.executeTool({ toolName: "tell", inputJson: '{"words":["a"]}' });
    await until(() => expect(first.notifications).toHaveLength(1));
    first.die();
    await using second = await fakeCallbackHost(first.port);
    const answer = spawn(served.client, { run_in_background: false });
    await until(() => expect(second.subagents).toHaveLength(1));
    second.subagents[0]?.answer({ success: true, output: "found it" });
    expect((await answer).result.case).toBe("success");
  });

  it("reports a child as failed whose host no longer says anything", async () => {
    await using host = await fakeCallbackHost();
    await using relay = await relayTo(host.port);
    await using served = await serve({ pingIntervalMs: 30, pingTimeoutMs: 300 });
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: relay.address });
    const answer = spawn(served.client, { run_in_background: false });
    await until(() => expect(host.subagents).toHaveLength(1));
    relay.swallow();
    expect((await answer).result).toMatchObject({
      case: "error",
      value: { code: ErrorCode.EXECUTION_FAILED },
    });
  });

  it("ends children with the session", async () => {
    await using host = await fakeCallbackHost();
    const served = await serve();
    await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr: host.address });
    await spawn(served.client, {});
    await until(() => expect(host.subagents).toHaveLength(1));
    await served[Symbol.asyncDispose]();
    await until(() => expect(host.subagents[0]?.signal.aborted).toBe(true));
  });
});

describe("a callback service that is not there", () => {
  it("leaves the session usable, and subagents answer that it cannot be reached", async () => {
    const gone = await fakeCallbackHost();
    gone.die();
    await using served = await serve();
    const { callbackStatus, success } = await served.client.finalizeToolConfigRequest({
      tools,
      clientCallbackAddr: gone.address,
    });
    expect(success).toBe(true);
    expect(callbackStatus).toMatchObject({ connected: false, activeSurfaces: [] });
    expect(callbackStatus?.message).toContain("ECONNREFUSED");
    expect((await spawn(served.client, {})).result).toMatchObject({
      case: "error",
      value: { code: ErrorCode.EXECUTION_FAILED, retryable: true },
    });
  });

  it("is one that does not speak HTTP/2", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    await using served = await serve();
    const clientCallbackAddr = `127.0.0.1:${portOf(server)}`;
    const { callbackStatus } = await served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr });
    expect(callbackStatus?.connected).toBe(false);
    server.close();
  });

  it("is one that takes connections and never says anything, which are closed after five seconds", async () => {
    const clock = new ManualClock();
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket.resume()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    await using served = await serve({ clock });
    const clientCallbackAddr = `127.0.0.1:${portOf(server)}`;
    const finalized = served.client.finalizeToolConfigRequest({ tools, clientCallbackAddr });
    await until(() => expect(sockets).toHaveLength(1));
    await clock.advance(5_000);
    const { success, callbackStatus } = await finalized;
    expect({ success, callbackStatus }).toMatchObject({
      success: true,
      callbackStatus: { connected: false, message: expect.stringContaining("in 5000 ms") },
    });
    await until(() => expect(sockets.every(({ closed }) => closed)).toBe(true));
    expect(clock.pendingTimers).toBe(0);
    server.close();
  });

  it("fails finalize where it is required, and the session can be finalized again", async () => {
    const gone = await fakeCallbackHost();
    gone.die();
    await using served = await serve({}, { required: true });
    const request = { tools, clientCallbackAddr: gone.address };
    await expect(served.client.finalizeToolConfigRequest(request)).rejects.toMatchObject({
      code: Code.Unavailable,
    });
    await using host = await fakeCallbackHost();
    const again = { tools, clientCallbackAddr: host.address };
    expect((await served.client.finalizeToolConfigRequest(again)).callbackStatus?.connected).toBe(true);
  });
});

describe("an address that is not allowed", () => {
  const resolve = (addresses: Record<string, string>) => (hostname: string) =>
    Promise.resolve([addresses[hostname] ?? ""]);

  it.each([
    ["another host", {}, "callbacks.allowHosts"],
    ["a metadata address, even when its name is listed", { allowHosts: ["meta.example"] }, "link-local"],
  ])("refuses %s", async (_what, options, message) => {
    await using served = await serve({ resolve: resolve({ "meta.example": "169.254.169.254" }), ...options });
    const { callbackStatus } = await served.client.finalizeToolConfigRequest({
      tools,
      clientCallbackAddr: "meta.example:80",
    });
    expect(callbackStatus).toMatchObject({ connected: false, message: expect.stringContaining(message) });
  });

  it("keeps a secret from going over http to another machine", async () => {
    await using served = await serve({
      allowHosts: ["far.example"],
      resolve: resolve({ "far.example": "10.1.2.3" }),
    });
    const { callbackStatus } = await served.client.finalizeToolConfigRequest({
      tools,
      clientCallbackAddr: "far.example:80",
      clientCallbackSecret: "s",
    });
    expect(callbackStatus?.message).toContain("callbacks.allowInsecure");
  });

  it("looks a name up once and connects to what it found", async () => {
    await using host = await fakeCallbackHost();
    const asked: string[] = [];
    await using served = await serve({
      resolve: (hostname) => {
        asked.push(hostname);
        return Promise.resolve(["127.0.0.1"]);
      },
    });
    const { callbackStatus } = await served.client.finalizeToolConfigRequest({
      tools,
      clientCallbackAddr: `agents.example:${host.port}`,
    });
    expect(callbackStatus?.connected).toBe(true);
    await served.client.executeTool({ toolName: "tell", inputJson: '{"words":["a"]}' });
    await until(() => expect(host.notifications).toHaveLength(1));
    expect(asked).toEqual(["agents.example"]);
  });
});

function portOf(server: Server): number {
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : 0;
}

/** A way to a port that can become a black hole: what is sent vanishes, and nothing is closed. */
async function relayTo(port: number) {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on("error", () => {});
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${portOf(server)}`,
    swallow() {
      for (const socket of sockets) socket.unpipe().resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
