import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { GrokToolsCallbackService, GrokToolsService } from "@trivium/proto/grok-tools";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it, vi } from "vitest";
import { openToolSession } from "../grok-tools-client.ts";
import type { ToolNotification } from "../notification.ts";
import { type CallbackHost, type CallbackHostOptions, serveCallbacks } from "./serve-callbacks.ts";
import type { SubagentTask } from "./subagent.ts";

async function served(options: CallbackHostOptions = {}, secret?: string) {
  const host = await serveCallbacks(options);
  const transport = createNodeTransport({ baseUrl: `http://${host.address}`, token: secret ?? host.secret });
  return {
    host,
    client: createClient(GrokToolsCallbackService, transport),
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}

const message = (sequence: number, type = "LspServerReady") => ({
  sessionId: "s",
  sequence: BigInt(sequence),
  notificationJson: JSON.stringify({ type, server_name: `n${sequence}` }),
});

describe("serveCallbacks", () => {
  it("listens on this machine and makes a secret of 32 bytes", async () => {
    await using first = await serveCallbacks({});
    await using second = await serveCallbacks({});
    expect(first.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(Buffer.from(first.secret, "base64url")).toHaveLength(32);
    expect(first.secret).not.toBe(second.secret);
  });

  it.each(["wrong", ""])("refuses the secret %j", async (secret) => {
    const seen: ToolNotification[] = [];
    await using test = await served(
      { onNotification: (notification) => void seen.push(notification) },
      secret,
    );
    await expect(test.client.sendNotification(message(1))).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
    await expect(test.client.spawnSubagent({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(seen).toEqual([]);
  });

  it("hands notifications on, typed, each once", async () => {
    const seen: unknown[] = [];
    await using test = await served({
      onNotification: (notification, source) => void seen.push([notification.type, source]),
    });
    await test.client.sendNotification(message(1));
    await test.client.sendNotification(message(1));
    await test.client.sendNotification(message(2, "Later"));
    expect(seen).toEqual([
      ["LspServerReady", { sessionId: "s", sequence: 1 }],
      ["unknown", { sessionId: "s", sequence: 2 }],
    ]);
  });

  it("hands on the first notification of a session that is opened anew", async () => {
    const seen: unknown[] = [];
    await using test = await served({ onNotification: ({ type }) => void seen.push(type) });
    await test.client.sendNotification(message(1));
    await test.client.sendNotification(message(1, "LspServerCrashed"));
    expect(seen).toEqual(["LspServerReady", "LspServerCrashed"]);
  });

  it("gives a handler that is slow nothing twice and nothing at the same time", async () => {
    const seen: number[] = [];
    const first = Promise.withResolvers<void>();
    await using test = await served({
      onNotification: async (_notification, { sequence }) => {
        seen.push(sequence);
        if (sequence === 1) await first.promise;
      },
    });
    // A server that has waited long enough gives up, sends it again, and goes on with the next one in the end.
    const patience = new AbortController();
    const given = test.client.sendNotification(message(1), { signal: patience.signal });
    await vi.waitFor(() => expect(seen).toEqual([1]));
    patience.abort();
    await expect(given).rejects.toMatchObject({ code: Code.Canceled });
    const again = test.client.sendNotification(message(1));
    const next = test.client.sendNotification(message(2));
    // What comes later on the same connection has overtaken them: another session does not wait.
    await test.client.sendNotification({ ...message(3), sessionId: "other" });
    expect(seen).toEqual([1, 3]);
    first.resolve();
    await Promise.all([again, next]);
    expect(seen).toEqual([1, 3, 2]);
  });

  it("lets the server try again what the handler could not take", async () => {
    let count = 0;
    const onNotification = (): void => {
      count += 1;
      if (count === 1) throw new Error("not now");
    };
    await using test = await served({ onNotification });
    await expect(test.client.sendNotification(message(1))).rejects.toMatchObject({ code: Code.Internal });
    await test.client.sendNotification(message(1));
    expect(count).toBe(2);
  });

  it("runs a subagent and gives its result", async () => {
    const tasks: SubagentTask[] = [];
    await using test = await served({
      spawnSubagent: (task) => {
        tasks.push(task);
        return Promise.resolve({ output: "done", toolCalls: 2, totalTokens: 7 });
      },
    });
    const request = {
      id: "c",
      prompt: "p",
      subagentType: "explore",
      toolNames: ["read_file"],
      systemPrompt: "be",
    };
    expect(await test.client.spawnSubagent(request)).toMatchObject({
      success: true,
      output: "done",
      toolCalls: 2,
      totalTokensUsed: 7n,
    });
    expect(tasks).toMatchObject([
      { id: "c", type: "explore", toolNames: ["read_file"], systemPrompt: "be", cwd: undefined },
    ]);
  });

  it("says what a subagent failed with", async () => {
    await using test = await served({ spawnSubagent: () => Promise.reject(new Error("no model")) });
    expect(await test.client.spawnSubagent({})).toMatchObject({
      success: false,
      error: "no model",
      cancelled: false,
    });
  });

  it("refuses subagents without somebody to run them", async () => {
    await using test = await served();
    await expect(test.client.spawnSubagent({})).rejects.toMatchObject({ code: Code.Unimplemented });
  });

  it.each([
    [
      "the server cancels the call",
      (_host: CallbackHost, call: AbortController) => Promise.resolve(call.abort()),
    ],
    ["it is disposed itself", (host: CallbackHost) => host[Symbol.asyncDispose]()],
  ])("stops a subagent when %s", async (_what, end) => {
    const started = Promise.withResolvers<AbortSignal>();
    await using test = await served({
      spawnSubagent: (_task, { signal }) => {
        started.resolve(signal);
        return new Promise((resolve) =>
          signal.addEventListener("abort", () => resolve({ isCancelled: true }), { once: true }),
        );
      },
    });
    const call = new AbortController();
    const answer = test.client.spawnSubagent({}, { signal: call.signal });
    answer.catch(() => {});
    const signal = await started.promise;
    await end(test.host, call);
    await vi.waitFor(() => expect(signal.aborted).toBe(true));
    await answer.catch(() => {});
  });

  it("has a subagent's calls say whose they are", async () => {
    const promptIds: unknown[] = [];
    const transport = createRouterTransport((router) =>
      router.service(GrokToolsService, {
        finalizeToolConfigRequest: () => ({ success: true }),
        executeTool(_request, { requestHeader }) {
          promptIds.push(requestHeader.get("x-grok-prompt-id"));
          return { result: { case: "success", value: { outputJson: "{}" } } };
        },
      }),
    );
    const session = await openToolSession(transport, { tools: [] });
    expect(session.callbacks).toBeUndefined();
    await session.call("a", {}, { promptId: "child-1" });
    await session.call("a", {});
    expect(promptIds).toEqual(["child-1", null]);
  });

  it("is what a session is opened with", async () => {
    await using host = await serveCallbacks({ secret: "own" });
    const requests: unknown[] = [];
    const transport = createRouterTransport((router) =>
      router.service(GrokToolsService, {
        finalizeToolConfigRequest(request) {
          requests.push([request.clientCallbackAddr, request.clientCallbackSecret]);
          return { success: true, callbackStatus: { connected: true, activeSurfaces: ["notifications"] } };
        },
      }),
    );
    const session = await openToolSession(transport, { tools: [], callbacks: host });
    expect(requests).toEqual([[host.address, "own"]]);
    expect(session.callbacks).toEqual({
      isConnected: true,
      activeSurfaces: ["notifications"],
      message: undefined,
    });
  });
});
