import { mkdir, realpath, writeFile } from "node:fs/promises";
import { silentLogger } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import type { HostedAgentEnd, HostedAgentRequest, HostedAgents } from "@trivium/crabcode-runtime";
import {
  type AuthorisationRequest,
  type CallOptions,
  createCommandRunner,
  createGrokToolsRuntime,
  type ProcessRunner,
  type ToolSession,
} from "@trivium/grok-tools-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConfigValues } from "../../config/config-keys.ts";
import { readConfig } from "../../config/read-config.ts";
import { createLocalRunner } from "./local-runner.ts";
import { startLocalSubagents } from "./local-subagents.ts";

const used = { turns: 3, toolCalls: 2, inputTokens: 10, outputTokens: 5 };

let folderOfProcesses: Awaited<ReturnType<typeof temporaryFolder>>;
let processes: ProcessRunner;
beforeAll(async () => {
  folderOfProcesses = await temporaryFolder();
  processes = await createCommandRunner({ dataFolder: folderOfProcesses.path });
});
afterAll(async () => {
  await processes[Symbol.asyncDispose]();
  await folderOfProcesses[Symbol.asyncDispose]();
});

async function open(run: (request: HostedAgentRequest, signal: AbortSignal) => Promise<HostedAgentEnd>) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const workspace = `${folder.path}/work`;
  await mkdir(`${workspace}/inner`, { recursive: true });
  await writeFile(`${workspace}/inner/deep.txt`, "");
  await writeFile(`${workspace}/top.txt`, "");
  const agents: HostedAgents = {
    run,
    acceptsModel: (model) => model === "mine",
    hasModel: true,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const runtime = stack.use(
    createGrokToolsRuntime({
      workspace,
      dataDir: `${folder.path}/data`,
      commandRunner: processes,
      programRunner: processes.programs,
      subagentRunner: createLocalRunner(agents),
    }),
  );
  const names = ["task", "get_task_output", "kill_task"].map((name) => `GrokBuild:${name}`);
  const tools = [...names, { id: "GrokBuild:list_dir", nameOverride: "look" }];
  const session = await runtime.openSession({ id: "s", tools });
  const owned = stack.move();
  return {
    workspace: await realpath(workspace),
    session,
    spawn: (input: object) =>
      session.execute("task", { prompt: "p", description: "d", run_in_background: false, ...input }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe("the runner over agents of this process", () => {
  it("gives a child its tools, its folder, its model and its words, and tells how it ended", async () => {
    const requests: HostedAgentRequest[] = [];
    const results: unknown[] = [];
    await using opened = await open(async (request, signal) => {
      requests.push(request);
      const look = request.tools.find(({ name }) => name === "look");
      results.push(await look?.call({ target_directory: "." }, signal));
      results.push(await look?.call({ target_directory: "nowhere" }, signal));
      return { status: "completed", text: "done", error: undefined, ...used };
    });
    const { result } = await opened.spawn({
      task_id: "a",
      cwd: "inner",
      model: "mine",
      subagent_type: "explore",
    });
    expect(result).toMatchObject({ ok: true, output: { output: "done", tool_calls: 2, turns: 3 } });
    expect(requests).toMatchObject([
      {
        id: "a",
        prompt: "p",
        owner: opened.session,
        cwd: opened.workspace,
        modelProfile: "mine",
        systemPrompt: expect.stringContaining(`${opened.workspace}/inner`),
        tools: [{ name: "look", isReadOnly: true, inputSchema: { type: "object" } }],
      },
    ]);
    expect(JSON.stringify(results)).not.toContain("top.txt");
    expect(results).toEqual([
      { result: expect.stringContaining("deep.txt"), isError: false },
      { result: expect.stringContaining("nowhere"), isError: true },
    ]);
  });

  it("lets a child do no more than the call that started it", async () => {
    const results: unknown[] = [];
    await using opened = await open(async ({ tools }, signal) => {
      results.push(await tools.find(({ name }) => name === "look")?.call({ target_directory: "." }, signal));
      return { status: "completed", text: "", error: undefined, ...used };
    });
    const input = { prompt: "p", description: "d", run_in_background: false };
    const authorise = ({ toolName }: AuthorisationRequest) =>
      Promise.resolve(toolName === "look" ? "not here" : undefined);
    await opened.session.execute("task", input, { authorise });
    await opened.session.execute("task", input);
    expect(results).toMatchObject([{ result: "not here", isError: true }, { isError: false }]);
  });

  it("tells how far a child is while it works", async () => {
    const seen = Promise.withResolvers<void>();
    await using opened = await open(async ({ onProgress }) => {
      onProgress?.(used);
      await seen.promise;
      onProgress?.({ ...used, turns: 9 });
      return { status: "completed", text: "done", error: undefined, ...used };
    });
    await opened.spawn({ task_id: "a", run_in_background: true });
    const look = async (): Promise<string> => {
      const { result } = await opened.session.execute("get_task_output", { task_ids: ["a"] });
      return result.ok ? result.promptText : result.error.message;
    };
    await expect.poll(look, { timeout: 20_000 }).toContain("So far: 3 turns, 2 tool calls, 15 tokens.");
    seen.resolve();
    await expect.poll(look, { timeout: 20_000 }).toContain("done");
    expect(await look()).not.toContain("So far");
  });

  it("says whose calls they are, and passes their end on", async () => {
    const calls: [string, unknown, CallOptions | undefined][] = [];
    const stop = new AbortController();
    await using opened = await open(async ({ owner, tools }) => {
      const session = owner as ToolSession;
      const execute = session.execute.bind(session);
      session.execute = (name, input, options) => {
        calls.push([name, input, options]);
        return execute(name, input, options);
      };
      await tools[0]?.call({ task_ids: ["x"] }, stop.signal);
      return { status: "completed", text: "", error: undefined, ...used };
    });
    await opened.spawn({ task_id: "a" });
    expect(calls).toMatchObject([["look", '{"task_ids":["x"]}', { promptId: "a", signal: stop.signal }]]);
  });

  it.each([
    ["failed", "no luck", { message: "no luck" }],
    ["stopped", undefined, { message: expect.stringContaining("was cancelled") }],
  ] as const)("tells of one that %s", async (status, error, expected) => {
    await using opened = await open(() => Promise.resolve({ status, text: "", error, ...used }));
    expect((await opened.spawn({})).result).toMatchObject({ ok: false, error: expected });
  });
});

describe("whether a server runs subagents itself", () => {
  it.each<[string, Partial<ConfigValues>, boolean]>([
    ["no model was chosen", {}, false],
    ["the rules were, by name", { defaultModel: "offline" }, true],
    ["a model was", { models: { mine: { provider: "ollama", model: "m" } } }, true],
    ["the service of agents is off", { defaultModel: "offline", services: ["grok-tools"] }, false],
  ])("%s", async (_what, changed, expected) => {
    await using folder = await temporaryFolder();
    await using stack = new AsyncDisposableStack();
    const { values } = readConfig({ flags: [], env: {}, folder: folder.path });
    const part = { stack, logger: silentLogger, env: {}, dataDir: folder.path };
    const runner = startLocalSubagents({ ...values, workspace: folder.path, ...changed }, part);
    expect(runner !== undefined).toBe(expected);
  });
});
