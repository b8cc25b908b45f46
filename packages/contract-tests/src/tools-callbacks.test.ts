import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createSecureServer, type ServerHttp2Session } from "node:http2";
import { connectNodeAdapter, createGrpcTransport } from "@connectrpc/connect-node";
import { temporaryFolder } from "@trivium/core/testing";
import { selfSigned } from "@trivium/endpoint/testing";
import { openToolSession, type ToolNotification, type ToolSession } from "@trivium/grok-tools-client";
import {
  type CallbackHost,
  type CallbackHostOptions,
  type SubagentTask,
  serveCallbacks,
} from "@trivium/grok-tools-client/node";
import { GrokToolsCallbackService, type ToolNotificationMsg } from "@trivium/proto/grok-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess();
});
afterAll(() => server[Symbol.asyncDispose]());

const tools = [
  "task",
  "get_task_output",
  "kill_task",
  "run_terminal_cmd",
  "list_dir",
  "scheduler_create",
  "scheduler_delete",
  "workflow",
].map((name) => `GrokBuild:${name}`);

const open = (callbacks: Pick<CallbackHost, "address" | "secret">, url = server.url): Promise<ToolSession> =>
  openToolSession(createGrpcTransport({ baseUrl: url }), {
    tools,
    callbacks,
    reminders: true,
  });

interface Recorded extends AsyncDisposable {
  readonly host: CallbackHost;
  readonly told: ToolNotification[];
  readonly sequences: number[];
}

/** A host that notes what it is told. */
async function recording(options: CallbackHostOptions = {}): Promise<Recorded> {
  const told: ToolNotification[] = [];
  const sequences: number[] = [];
  const host = await serveCallbacks({
    onNotification(notification, { sequence }) {
      told.push(notification);
      sequences.push(sequence);
    },
    ...options,
  });
  return { host, told, sequences, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

/** Runs subagents until they are told to stop. */
function endless() {
  const started: { readonly task: SubagentTask; readonly signal: AbortSignal }[] = [];
  const spawnSubagent: NonNullable<CallbackHostOptions["spawnSubagent"]> = (task, { signal }) => {
    started.push({ task, signal });
    return new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve({ isCancelled: true }), { once: true }),
    );
  };
  return { started, spawnSubagent };
}

const work = { prompt: "Look.", description: "look around" };
const typesOf = (told: readonly ToolNotification[]): string[] => told.map(({ type }) => type);

describe("a host that serves callbacks", () => {
  it("is told in order and without holes, and runs a subagent that calls tools of its session", async () => {
    const answers: unknown[] = [];
    let session: ToolSession | undefined;
    await using recorded = await recording({
      async spawnSubagent({ id, toolNames, parentSessionId }) {
        expect(parentSessionId).toBe(session?.sessionId);
        expect(toolNames).toContain("list_dir");
        expect(toolNames).not.toContain("task");
        answers.push(await session?.call("list_dir", { target_directory: "." }, { promptId: id }));
        answers.push(await session?.call("task", work, { promptId: id }));
        return { output: "nothing there", toolCalls: 2, turns: 1 };
      },
    });
    session = await open(recorded.host);
    expect(session.callbacks).toMatchObject({
      isConnected: true,
      activeSurfaces: ["notifications", "subagents"],
    });
    await session.callOrThrow("run_terminal_cmd", {
      command: "echo hi",
      description: "say hi",
      is_background: true,
    });
    await expect.poll(() => typesOf(recorded.told)).toContain("TaskCompleted");
    await session.callOrThrow("task", { ...work, task_id: "child-1" });
    await expect.poll(() => typesOf(recorded.told)).toContain("SubagentCompleted");
    expect(typesOf(recorded.told).filter((type) => type !== "BashOutputChunk")).toEqual([
      "BashExecutionBackgrounded",
      "TaskCompleted",
      "SubagentCompleted",
    ]);
    expect(recorded.sequences).toEqual(recorded.sequences.map((_sequence, index) => index + 1));
    expect(answers).toMatchObject([
      { ok: true },
      { ok: false, error: { message: expect.stringMatching(/depth/) } },
    ]);
    const { promptText } = await session.callOrThrow("list_dir", { target_directory: "." });
    expect(promptText).toMatch(/<system-reminder>\nSubagent child-1 [^]*<\/system-reminder>/);
    const output = await session.callOrThrow("get_task_output", { task_ids: ["child-1"] });
    expect(output.promptText).toContain("nothing there");
  });

  it("has a subagent stopped by kill_task, and is told of no end of it", async () => {
    const { started, spawnSubagent } = endless();
    await using recorded = await recording({ spawnSubagent });
    const session = await open(recorded.host);
    await session.callOrThrow("task", { ...work, task_id: "child-1" });
    await expect.poll(() => started).toHaveLength(1);
    expect((await session.callOrThrow("kill_task", { task_id: "child-1" })).promptText).toMatch(/^killed: /);
    await expect.poll(() => started[0]?.signal.aborted).toBe(true);
    const { promptText } = await session.callOrThrow("list_dir", { target_directory: "." });
    expect(promptText).not.toContain("system-reminder");
    expect(typesOf(recorded.told)).toEqual([]);
  });

  it("may die: its subagents have failed, and the next one on its address is told what waited", async () => {
    const { started, spawnSubagent } = endless();
    const first = await recording({ spawnSubagent });
    const session = await open(first.host);
    await session.callOrThrow("task", { ...work, task_id: "child-1" });
    await expect.poll(() => started).toHaveLength(1);
    await first.host[Symbol.asyncDispose]();
    await expect
      .poll(async () => (await session.callOrThrow("get_task_output", { task_ids: ["child-1"] })).promptText)
      .toContain("Status: failed");
    expect(await session.call("task", work)).toMatchObject({
      ok: false,
      error: { isRetryable: true, message: expect.stringContaining("cannot be reached") },
    });
    const port = Number(first.host.address.split(":")[1]);
    await using second = await recording({ port, secret: first.host.secret });
    await expect
      .poll(() => second.told, { timeout: 10_000 })
      .toMatchObject([{ type: "SubagentCompleted", subagentId: "child-1", status: "failed" }]);
    expect(second.sequences).toEqual([1]);
  });

  it("runs the prompts of a scheduled task as subagents", async () => {
    const prompts: string[] = [];
    await using recorded = await recording({
      spawnSubagent: ({ prompt }) => {
        prompts.push(prompt);
        return Promise.resolve({ output: "all is well" });
      },
    });
    const session = await open(recorded.host);
    const { output } = await session.callOrThrow("scheduler_create", {
      interval: "5m",
      prompt: "Is all well?",
      fire_immediately: true,
    });
    await expect.poll(() => typesOf(recorded.told)).toContain("SubagentCompleted");
    expect(typesOf(recorded.told)).toEqual([
      "ScheduledTaskCreated",
      "ScheduledTaskFired",
      "SubagentCompleted",
    ]);
    expect(prompts).toEqual([
      expect.stringMatching(/<system-reminder>[^]*<\/system-reminder>\n\nIs all well\?$/),
    ]);
    const { id } = output as { id: string };
    await session.callOrThrow("scheduler_delete", { id });
    await expect.poll(() => recorded.told.at(-1)).toMatchObject({ type: "ScheduledTaskRemoved", taskId: id });
  });

  it("runs the agents of a workflow, which are stopped with it", async () => {
    const { started, spawnSubagent } = endless();
    await using recorded = await recording({
      spawnSubagent: (task, options) =>
        task.prompt === "wait"
          ? spawnSubagent(task, options)
          : Promise.resolve({ output: `did ${task.prompt}` }),
    });
    const session = await open(recorded.host);
    const script = `const [one, two] = await parallel(["a", "b"]); text([one.output, two.output, await agent("c")])`;
    const { output } = await session.callOrThrow("workflow", { script });
    expect(output).toMatchObject({ message: '["did a","did b","did c"]' });
    const controller = new AbortController();
    const running = session.call(
      "workflow",
      { script: `await agent("wait")` },
      { signal: controller.signal },
    );
    await expect.poll(() => started).toHaveLength(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => started[0]?.signal.aborted).toBe(true);
    expect(typesOf(recorded.told)).toEqual([]);
  });

  it("has its subagents stopped when the server ends", async () => {
    const { started, spawnSubagent } = endless();
    await using recorded = await recording({ spawnSubagent });
    await using other = await startServerProcess();
    const session = await open(recorded.host, other.url);
    await session.callOrThrow("task", work);
    await expect.poll(() => started).toHaveLength(1);
    expect(await other.stop()).toBe(0);
    await expect.poll(() => started[0]?.signal.aborted).toBe(true);
  });
});

describe("a host with https", () => {
  it("is called when its certificate can be trusted, and not called otherwise", async () => {
    await using folder = await temporaryFolder();
    const identity = selfSigned("host");
    await writeFile(`${folder.path}/ca.pem`, identity.cert);
    await using host = await serveSecurely(identity);
    const callbacks = { address: `https://127.0.0.1:${host.port}`, secret: "s3cret" };
    const distrusting = await open(callbacks);
    expect(distrusting.callbacks).toMatchObject({ isConnected: false, activeSurfaces: [] });
    expect(distrusting.callbacks?.message).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(host.received).toEqual([]);
    await using trusting = await startServerProcess({
      env: { NODE_EXTRA_CA_CERTS: `${folder.path}/ca.pem` },
    });
    const session = await open(callbacks, trusting.url);
    expect(session.callbacks).toMatchObject({ isConnected: true });
    await session.callOrThrow("scheduler_create", { interval: "5m", prompt: "Look." });
    await expect.poll(() => host.received).toMatchObject([{ sequence: 1n, authorization: "Bearer s3cret" }]);
  });
});

/** The callback service over TLS; no subagents. */
async function serveSecurely({ cert, key }: { cert: string; key: string }) {
  const received: (Pick<ToolNotificationMsg, "sequence"> & { authorization: string | null })[] = [];
  const secure = createSecureServer(
    { cert, key },
    connectNodeAdapter({
      routes: (router) =>
        router.service(GrokToolsCallbackService, {
          sendNotification({ sequence }, { requestHeader }) {
            received.push({ sequence, authorization: requestHeader.get("authorization") });
            return {};
          },
        }),
    }),
  );
  const sessions = new Set<ServerHttp2Session>();
  secure.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  secure.listen(0, "127.0.0.1");
  await once(secure, "listening");
  const bound = secure.address();
  return {
    received,
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    async [Symbol.asyncDispose]() {
      const closed = once(secure, "close");
      secure.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}
