import { TriviumError } from "@trivium/core";
import { ManualClock, sequentialIds, temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { createModelCatalogue } from "../models/model-catalogue.ts";
import { type ScriptEntry, ScriptedModels } from "../testing/scripted-models.ts";
import { createHostedAgents, type HostedAgentsOptions } from "./create-hosted-agents.ts";
import type { HostedAgentRequest, HostedAgentUsage, HostedTool } from "./hosted-agents.ts";
import { KeptConversations, MemoryTranscript } from "./kept-conversations.ts";

const call = (id: string, name: string, input: Record<string, unknown> = {}): ScriptEntry => ({
  tool_calls: [{ id, name, input }],
});

function tool(
  name: string,
  run: HostedTool["call"] = () => Promise.resolve({ result: `${name} ran`, isError: false }),
) {
  return { name, description: `does ${name}`, inputSchema: { type: "object" }, isReadOnly: false, call: run };
}

async function host(script: readonly ScriptEntry[], options: Partial<HostedAgentsOptions> = {}) {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const models = new ScriptedModels(script);
  const agents = createHostedAgents({
    models,
    cwd: folder.path,
    clock,
    ids: sequentialIds(),
    ...options,
  });
  const owner = {};
  const request = (more: Partial<HostedAgentRequest> = {}): HostedAgentRequest => ({
    owner,
    id: "a",
    systemPrompt: "You are a.",
    prompt: "go",
    tools: [],
    cwd: folder.path,
    ...more,
  });
  return {
    clock,
    models,
    agents,
    request,
    run: (more: Partial<HostedAgentRequest> = {}, signal = new AbortController().signal) =>
      agents.run(request(more), signal),
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("a hosted agent", () => {
  it("works with the prompt and the tools it is given, and says what it used", async () => {
    await using test = await host([call("c1", "look", { at: "x" }), { text: ["fo", "und"] }]);
    const inputs: unknown[] = [];
    const progress: HostedAgentUsage[] = [];
    const look = tool("look", (input) => {
      inputs.push(input);
      return Promise.resolve({ result: "seen", isError: false });
    });
    const end = await test.run({
      preamble: "Rules.",
      tools: [look],
      onProgress: (used) => progress.push(used),
    });
    expect(end).toEqual({
      status: "completed",
      text: "found",
      error: undefined,
      turns: 2,
      toolCalls: 1,
      inputTokens: 20,
      outputTokens: 10,
    });
    expect(inputs).toEqual([{ at: "x" }]);
    expect(progress.map(({ turns, toolCalls, inputTokens }) => [turns, toolCalls, inputTokens])).toEqual([
      [1, 0, 10],
      [2, 1, 20],
    ]);
    const [first, second] = test.models.requests;
    expect(first).toMatchObject({
      system: ["You are a."],
      tools: [{ name: "look", description: "does look", inputSchema: { type: "object" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "Rules." }] },
        { role: "user", content: [{ type: "text", text: "go" }] },
      ],
    });
    expect(second?.messages.at(-1)).toMatchObject({
      content: [{ type: "tool_result", tool_use_id: "c1", content: "seen", is_error: false }],
    });
  });

  it("calls nothing that it was not given", async () => {
    await using test = await host([call("c1", "Bash", { command: "ls" }), { text: "no" }]);
    expect(await test.run({ tools: [tool("look")] })).toMatchObject({ status: "completed", toolCalls: 0 });
    expect(test.models.requests[1]?.messages.at(-1)).toMatchObject({
      content: [{ content: "Error: unknown tool 'Bash'", is_error: true }],
    });
  });

  it("asks nobody, and does not do what the settings deny", async () => {
    const settings = { base: { permissions: { deny: [{ tool: "shut" }] } } };
    await using test = await host([call("c1", "open"), call("c2", "shut"), { text: "done" }], { settings });
    expect(await test.run({ tools: [tool("open"), tool("shut")] })).toMatchObject({ toolCalls: 1 });
    expect(test.models.requests.slice(1).map(({ messages }) => messages.at(-1)?.content[0])).toMatchObject([
      { content: "open ran" },
      { content: "Permission denied: denied by a rule", is_error: true },
    ]);
  });

  it.each<{ what: string; entry: ScriptEntry; maxTurns?: number; error: string }>([
    { what: "its limit", entry: call("c1", "look"), maxTurns: 1, error: "may make 1 model requests" },
    { what: "its model", entry: { failure: { kind: "auth", message: "no key" } }, error: "no key" },
    { what: "a model that says nothing", entry: {}, error: "said nothing" },
  ])("fails with $what", async ({ entry, maxTurns, error }) => {
    await using test = await host([entry]);
    expect(await test.run({ tools: [tool("look")], maxTurns })).toMatchObject({
      status: "failed",
      error: expect.stringContaining(error),
    });
  });

  it("takes the usual model instead of one that is not there, and fails with one that cannot be used", async () => {
    await using test = await host([{ text: "hi" }]);
    expect(await test.run({ modelProfile: "nope" })).toMatchObject({ status: "completed" });
    expect(test.models.requests[0]?.loop.profile).toBe("script");
    test.models.unusable.add("other");
    expect(await test.run({ modelProfile: "other" })).toMatchObject({
      status: "failed",
      error: "the profile has no key",
    });
    expect([test.agents.acceptsModel("script"), test.agents.acceptsModel("nope")]).toEqual([true, false]);
    expect(test.agents.acceptsModel("other")).toBe(false);
  });
});

describe("a hosted agent that is stopped", () => {
  it("has ended only when its call has", async () => {
    await using test = await host([call("c1", "slow")]);
    const began = Promise.withResolvers<AbortSignal>();
    const release = Promise.withResolvers<void>();
    const slow = tool("slow", async (_input, signal) => {
      began.resolve(signal);
      await release.promise;
      return { result: "late", isError: false };
    });
    const stop = new AbortController();
    let isSettled = false;
    const running = test.run({ tools: [slow] }, stop.signal).finally(() => {
      isSettled = true;
    });
    const signal = await began.promise;
    stop.abort();
    expect(signal.aborted).toBe(true);
    // The loop leaves the call behind, the agent does not.
    await test.clock.advance(10_000);
    expect(isSettled).toBe(false);
    release.resolve();
    expect(await running).toMatchObject({ status: "stopped", toolCalls: 1 });
  });

  it("has ended only when its request has", async () => {
    await using test = await host([{ text: "never", hold: "gate" }]);
    const stop = new AbortController();
    let isSettled = false;
    const running = test.run({}, stop.signal).finally(() => {
      isSettled = true;
    });
    while (test.models.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await test.clock.advance(10_000);
    expect(isSettled).toBe(false);
    test.models.release("gate");
    expect(await running).toMatchObject({ status: "stopped", text: "" });
  });

  it("is stopped with its host, which runs no others", async () => {
    await using test = await host([call("c1", "wait")]);
    const began = Promise.withResolvers<void>();
    const wait = tool("wait", (_input, signal) => {
      began.resolve();
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve({ result: "", isError: true }), { once: true }),
      );
    });
    const running = test.run({ tools: [wait] });
    await began.promise;
    await test.agents[Symbol.asyncDispose]();
    expect(await running).toMatchObject({ status: "stopped" });
    await expect(test.run()).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("a conversation", () => {
  it("goes on under another id, with a new system prompt and the model it had", async () => {
    await using test = await host([call("c1", "look"), { text: "one" }, { text: "two" }]);
    await test.run({ tools: [tool("look")], preamble: "Rules.", modelProfile: "other" });
    const end = await test.run({
      id: "b",
      resumeFrom: "a",
      systemPrompt: "You are b.",
      prompt: "and?",
      preamble: "Rules again.",
    });
    expect(end).toMatchObject({ status: "completed", text: "two", turns: 1 });
    const request = test.models.requests[2];
    expect(request).toMatchObject({ system: ["You are b."], loop: { profile: "other" } });
    expect(request?.messages.map(({ role }) => role)).toEqual([
      "user",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    expect(request?.messages.at(-1)?.content).toEqual([{ type: "text", text: "and?" }]);
  });

  it("goes on after a stop, with every call answered", async () => {
    await using test = await host([{ ...call("c1", "wait"), text: "let me see" }, { text: "fine" }]);
    const stop = new AbortController();
    const wait = tool("wait", () => {
      stop.abort();
      return Promise.resolve({ result: "", isError: true });
    });
    expect(await test.run({ tools: [wait] }, stop.signal)).toMatchObject({
      status: "stopped",
      text: "let me see",
    });
    expect(await test.run({ id: "b", resumeFrom: "a" })).toMatchObject({ text: "fine" });
    const blocks = test.models.requests[1]?.messages.flatMap(({ content }) => content);
    expect(blocks).toContainEqual(expect.objectContaining({ type: "tool_result", tool_use_id: "c1" }));
  });

  it("is nobody else's, and there only once there was one", async () => {
    await using test = await host([{ text: "one" }]);
    await test.run();
    const gone = { kind: "notFound" };
    await expect(test.run({ id: "b", owner: {}, resumeFrom: "a" })).rejects.toMatchObject(gone);
    await expect(test.run({ id: "b", resumeFrom: "c" })).rejects.toThrow(TriviumError);
  });

  it("is forgotten when those of the owner are larger than 64 MiB together, the oldest first", async () => {
    const transcript = new MemoryTranscript({ records: [], bytes: 24 * 1024 * 1024 });
    const entry = { uuid: "u", timestamp: "", operationId: undefined, eventSeq: 0 };
    await transcript.append({ ...entry, message: { role: "user", content: [] } });
    expect(transcript.bytes).toBeGreaterThan(24 * 1024 * 1024);
    const kept = new KeptConversations();
    for (const id of ["a", "b", "c"])
      kept.keep(id, { records: [], bytes: transcript.bytes, modelProfile: "m" });
    expect(() => kept.get("a")).toThrow(/no conversation of the agent a/);
    expect([kept.get("b"), kept.get("c")]).toHaveLength(2);
  });
});

describe("whether there is a model", () => {
  const profile = { provider: "script", script_path: "/nowhere.json" };
  it.each<{ what: string; base?: Record<string, unknown>; key?: string; expected: boolean }>([
    { what: "none", expected: false },
    { what: "a profile", base: { models: { mine: profile } }, expected: true },
    {
      what: "one without its key",
      base: { models: { mine: { provider: "anthropic", model: "m" } } },
      expected: false,
    },
    { what: "a key in the environment", key: "k", expected: true },
    { what: "the rules, by name", base: { default_model: "offline" }, expected: true },
  ])("$what", async ({ base = {}, key, expected }) => {
    const variables = { OPENAI_API_KEY: key };
    await using folder = await temporaryFolder();
    const models = createModelCatalogue({ variables, isTesting: true });
    await using agents = createHostedAgents({ models, cwd: folder.path, settings: { base } });
    expect(agents.hasModel).toBe(expected);
  });
});
