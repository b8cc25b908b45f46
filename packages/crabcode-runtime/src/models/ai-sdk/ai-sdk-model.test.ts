import { type Clock, systemClock } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { Message } from "../../conversation/message.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../../ports/model-port.ts";
import type { ApiConfig } from "../../settings/model-settings.ts";
import { isUnusable, resolveProfile } from "../resolve-profile.ts";
import { type FakeProvider, startFakeProvider } from "../testing/fake-provider.ts";
import { createAiSdkModel } from "./ai-sdk-model.ts";

const KEY = "sk-secret-value";
const grammars = ["openai", "codex", "anthropic"] as const;

describe.each(grammars)("a model behind the %s grammar", (format) => {
  it("item 14: streams thinking, text and calls in order, then usage and the finish reason", async () => {
    await using provider = await startFakeProvider([
      {
        thinking: "hm",
        text: ["Hel", "lo"],
        toolCalls: [
          { id: "c1", name: "Read", arguments: '{"file_path":"a.txt"}' },
          { id: "c2", name: "Glob", arguments: '{"pattern":"*"}' },
        ],
        usage: { inputTokens: 30, outputTokens: 7, cachedInputTokens: 20 },
      },
    ]);
    const chunks = await step(provider, { format });
    expect(textOf(chunks, "thinking")).toBe("hm");
    expect(textOf(chunks, "text")).toBe("Hello");
    expect(chunks.filter(({ type }) => type === "tool-end")).toEqual([
      { type: "tool-end", id: "c1", name: "Read", input: { file_path: "a.txt" } },
      { type: "tool-end", id: "c2", name: "Glob", input: { pattern: "*" } },
    ]);
    expect(chunks.at(-2)).toMatchObject({
      type: "usage",
      usage: { inputTokens: 30, outputTokens: 7, cachedInputTokens: 20 },
    });
    expect(chunks.at(-1)).toEqual({ type: "finish", reason: "tool-calls" });
  });

  it("joins characters that the network tore apart", async () => {
    await using provider = await startFakeProvider([{ text: ["für 🦀 日本"], bytesPerWrite: 1 }]);
    expect(textOf(await step(provider, { format }), "text")).toBe("für 🦀 日本");
  });

  it("hands on the halves of a character as they come", async () => {
    await using provider = await startFakeProvider([{ text: ["\ud83e", "\udd80"] }]);
    const chunks = await step(provider, { format });
    expect(chunks.filter(({ type }) => type === "text")).toEqual([
      { type: "text", text: "\ud83e" },
      { type: "text", text: "\udd80" },
    ]);
  });

  it("keeps calls when the provider finishes with stop", async () => {
    await using provider = await startFakeProvider([
      { toolCalls: [{ id: "c1", name: "Read", arguments: "{}" }], finish: "stop" },
    ]);
    expect(await step(provider, { format })).toContainEqual({
      type: "tool-end",
      id: "c1",
      name: "Read",
      input: {},
    });
  });

  it.each(['{"file_path":"a', "[1]", '"text"', "nonsense"])(
    "hands on the arguments %s as text, without an input",
    async (text) => {
      await using provider = await startFakeProvider([
        { toolCalls: [{ id: "c1", name: "Read", arguments: text }], finish: "length" },
      ]);
      const chunks = await step(provider, { format });
      expect(chunks).toContainEqual({ type: "tool-end", id: "c1", name: "Read", rawInput: text });
      expect(chunks.at(-1)).toEqual({ type: "finish", reason: "length" });
    },
  );

  it.each([
    [401, "auth"],
    [403, "auth"],
    [408, "transient"],
    [409, "transient"],
    [429, "transient"],
    [500, "transient"],
    [529, "transient"],
    [400, "other"],
    [404, "other"],
  ])("reports status %i as %s, with the provider's message and without the key", async (status, kind) => {
    await using provider = await startFakeProvider([
      { refusal: { status, message: `no luck with ${KEY}`, headers: { "retry-after": "7" } } },
    ]);
    const [chunk, ...others] = await step(provider, { format });
    expect(others).toEqual([]);
    expect(chunk).toEqual({
      type: "error",
      kind,
      status,
      message: "no luck with [redacted]",
      ...(kind === "transient" && { retryAfterMs: 7_000 }),
    });
    expect(provider.requests).toHaveLength(1);
  });

  it.each([
    ["This model's maximum context length is 8192 tokens", 8_192],
    ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
  ])("recognises a request that does not fit: %s", async (message, contextWindowTokens) => {
    await using provider = await startFakeProvider([{ refusal: { status: 400, message } }]);
    const chunks = await step(provider, { format });
    expect(chunks).toMatchObject([{ kind: "contextOverflow", contextWindowTokens }]);
  });

  it.each([
    ["reset", { resetAfterEvents: 3 }],
    ["ended", { endAfterEvents: 3 }],
  ])("reports a stream that was %s in the middle as transient, after what had come", async (_name, fault) => {
    await using provider = await startFakeProvider([{ text: ["one", "two", "three"], ...fault }]);
    const chunks = await step(provider, { format });
    expect(textOf(chunks, "text")).toMatch(/^one/);
    expect(chunks.at(-1)).toMatchObject({ type: "error", kind: "transient" });
  });

  it("reports a stream that ended before it said anything as transient", async () => {
    await using provider = await startFakeProvider([{ text: ["one"], endAfterEvents: 1 }]);
    expect(await step(provider, { format })).toMatchObject([{ type: "error", kind: "transient" }]);
  });

  it("reports no call whose arguments were cut by the end of the stream", async () => {
    await using provider = await startFakeProvider([
      { toolCalls: [{ id: "c1", name: "Read", arguments: '{"file_path":"a.txt"}' }], endAfterEvents: 3 },
    ]);
    const chunks = await step(provider, { format });
    expect(chunks.filter(({ type }) => type === "tool-end")).toEqual([]);
    expect(chunks.at(-1)).toMatchObject({ type: "error", kind: "transient" });
  });

  it("reports an event that is no JSON as transient", async () => {
    await using provider = await startFakeProvider([{ text: ["a"], noise: "data: {broken\n\n" }]);
    expect((await step(provider, { format })).at(-1)).toMatchObject({ type: "error", kind: "transient" });
  });

  it("reports a web page as a wrong address", async () => {
    await using provider = await startFakeProvider([{ contentType: "text/html", text: ["a"] }]);
    expect(await step(provider, { format })).toMatchObject([{ type: "error", kind: "config" }]);
  });

  it("reports a server that is not there as transient", async () => {
    const provider = await startFakeProvider([]);
    await provider[Symbol.asyncDispose]();
    expect(await step(provider, { format })).toMatchObject([{ type: "error", kind: "transient" }]);
  });

  it("throws the reason of an aborted request and closes the connection", async () => {
    await using provider = await startFakeProvider([{ text: ["one", "two"], stallAfterEvents: 3 }]);
    const controller = new AbortController();
    const reason = new Error("the user left");
    const reading = (async () => {
      for await (const { type } of open(provider, { format }, { signal: controller.signal })) {
        if (type === "text") controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    await provider.clientLeft;
  });

  it("closes the connection when the reader leaves early", async () => {
    await using provider = await startFakeProvider([{ text: ["one", "two"], stallAfterEvents: 3 }]);
    for await (const { type } of open(provider, { format })) if (type === "text") break;
    await provider.clientLeft;
  });

  it("gives up on a silent provider after the profile's time", async () => {
    await using provider = await startFakeProvider([{ text: ["one", "two"], stallAfterEvents: 3 }]);
    const clock = new ManualClock();
    const chunks: ModelChunk[] = [];
    for await (const chunk of open(provider, { format, timeout: 30 }, { clock })) {
      chunks.push(chunk);
      if (chunk.type === "text") void clock.advance(30_000);
    }
    expect(chunks.at(-1)).toEqual({
      type: "error",
      kind: "transient",
      message: "the provider sent nothing for 30 s",
    });
    expect(clock.pendingTimers).toBe(0);
    await provider.clientLeft;
  });

  it("counts the silence from the last thing that was heard", async () => {
    await using provider = await startFakeProvider([{ text: ["one", "two", "three"] }]);
    const clock = new ManualClock();
    const chunks: ModelChunk[] = [];
    for await (const chunk of open(provider, { format, timeout: 30 }, { clock })) {
      chunks.push(chunk);
      if (chunk.type === "text") await clock.advance(20_000);
    }
    expect(chunks.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  it("puts extra_body and http_headers into the request", async () => {
    await using provider = await startFakeProvider([{ text: ["a"] }]);
    await step(provider, { format, extra_body: { top_k: 3 }, http_headers: { "x-team": "blue" } });
    expect(provider.requests[0]?.body).toMatchObject({ top_k: 3 });
    expect(provider.requests[0]?.headers).toMatchObject({ "x-team": "blue" });
  });
});

it("provider openai at another address needs no key and speaks Chat Completions", async () => {
  await using provider = await startFakeProvider([{ text: ["a"] }]);
  const variables = { OPENAI_BASE_URL: provider.baseUrl };
  const profile = resolveProfile({ provider: "openai" }, variables);
  if (isUnusable(profile)) throw new Error(profile.message);
  const model = createAiSdkModel(profile, { clock: systemClock, fetch: globalThis.fetch });
  const chunks: ModelChunk[] = [];
  for await (const chunk of model.stream(requestOf(model))) chunks.push(chunk);
  expect(textOf(chunks, "text")).toBe("a");
  expect(provider.requests[0]).toMatchObject({ path: "/v1/chat/completions", body: { model: "gpt-4o" } });
  expect(provider.requests[0]?.headers).not.toHaveProperty("authorization");
});

describe("messages in the anthropic grammar", () => {
  it("item 13: gives a signed thought back as it came, and drops one of another provider", async () => {
    await using provider = await startFakeProvider([
      { thinking: "deep", toolCalls: [{ id: "c1", name: "Read", arguments: "{}" }] },
      { text: ["done"] },
    ]);
    const chunks = await step(provider, { format: "anthropic" });
    const signature = chunks.find((chunk) => chunk.type === "thinking" && chunk.providerMeta !== undefined);
    expect(signature).toEqual({
      type: "thinking",
      text: "",
      providerMeta: { anthropic: { signature: "sig-1" } },
    });
    await step(provider, { format: "anthropic" }, [
      user("go"),
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "deep", provider_meta: { anthropic: { signature: "sig-1" } } },
          { type: "thinking", thinking: "foreign" },
          { type: "tool_use", id: "c1", name: "Read", input: {} },
        ],
      },
      result("c1", "hello", false),
    ]);
    expect(provider.requests[1]?.body.messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "deep", signature: "sig-1" },
          { type: "tool_use", id: "c1" },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "hello" }] },
    ]);
  });

  it("keeps reasoning within max_tokens", async () => {
    await using provider = await startFakeProvider([{ text: ["a"] }, { text: ["a"] }]);
    await step(provider, { format: "anthropic", max_tokens: 16_384, thinking_budget: 10_000 });
    await step(provider, { format: "anthropic", max_tokens: 1_500, thinking_budget: 10_000 });
    expect(provider.requests[0]?.body).toMatchObject({
      max_tokens: 16_384,
      thinking: { type: "enabled", budget_tokens: 10_000 },
    });
    expect(provider.requests[1]?.body).toMatchObject({ max_tokens: 1_500 });
    expect(provider.requests[1]?.body.thinking).toBeUndefined();
  });

  it("classifies an error that comes inside the stream", async () => {
    const event = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "busy" } });
    await using provider = await startFakeProvider([
      { text: ["a"], noise: `event: error\ndata: ${event}\n\n`, endAfterEvents: 2 },
    ]);
    expect((await step(provider, { format: "anthropic" })).at(-1)).toMatchObject({
      kind: "transient",
      message: "busy",
    });
  });
});

describe("messages in the codex grammar", () => {
  it("keeps nothing at the provider and gives encrypted reasoning back", async () => {
    await using provider = await startFakeProvider([{ thinking: "deep", text: ["a"] }, { text: ["b"] }]);
    const chunks = await step(provider, { format: "codex", thinking_budget: 20_000 });
    const meta = chunks.find((chunk) => chunk.type === "thinking" && chunk.providerMeta !== undefined);
    const providerMeta = meta?.type === "thinking" ? meta.providerMeta : undefined;
    expect(providerMeta).toMatchObject({ openai: { reasoningEncryptedContent: "enc-1" } });
    const thinking = {
      type: "thinking" as const,
      thinking: "deep",
      ...(providerMeta && { provider_meta: providerMeta }),
    };
    const answer = { role: "assistant" as const, content: [thinking, { type: "text" as const, text: "a" }] };
    await step(provider, { format: "codex" }, [user("x"), answer, user("y")]);
    expect(provider.requests[0]?.body).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high", summary: "auto" },
    });
    expect(provider.requests[1]?.body).toMatchObject({ reasoning: { effort: "medium" } });
    expect(provider.requests[1]?.body.input).toContainEqual(
      expect.objectContaining({ type: "reasoning", encrypted_content: "enc-1" }),
    );
  });
});

describe("messages in the openai grammar", () => {
  it("joins system strings, keeps results directly behind their calls and merges neighbours", async () => {
    await using provider = await startFakeProvider([{ text: ["a"] }]);
    await step(provider, { format: "openai" }, [
      user("one"),
      user("two"),
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "secret" },
          { type: "tool_use", id: "c1", name: "Read", input: { file_path: "a" } },
          { type: "tool_use", id: "c2", name: "Read", input: { file_path: "b" } },
        ],
      },
      {
        role: "user",
        content: [
          ...result("c1", "A", false).content,
          ...result("c2", "no file", true).content,
          { type: "text", text: "hook says hi" },
        ],
      },
    ]);
    const { messages, stream_options: streamOptions } = provider.requests[0]?.body ?? {};
    expect(streamOptions).toEqual({ include_usage: true });
    expect(messages).toEqual([
      { role: "system", content: "be brief\n\nbe kind" },
      { role: "user", content: "one\n\ntwo" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "Read", arguments: '{"file_path":"a"}' } },
          { id: "c2", type: "function", function: { name: "Read", arguments: '{"file_path":"b"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "A" },
      { role: "tool", tool_call_id: "c2", content: "no file" },
      { role: "user", content: "hook says hi" },
    ]);
  });

  it("gives the signature of a call back with it", async () => {
    const call = { id: "c1", name: "Read", arguments: "{}", thoughtSignature: "sign-1" };
    await using provider = await startFakeProvider([{ toolCalls: [call] }, { text: ["a"] }]);
    const chunks = await step(provider, { format: "openai" });
    const end = chunks.find((chunk) => chunk.type === "tool-end");
    if (end?.type !== "tool-end" || end.providerMeta === undefined) throw new Error("no signature came");
    const block = {
      type: "tool_use" as const,
      id: "c1",
      name: "Read",
      input: {},
      provider_meta: end.providerMeta,
    };
    const history = [user("x"), { role: "assistant" as const, content: [block] }, result("c1", "A", false)];
    await step(provider, { format: "openai" }, history);
    expect(provider.requests[1]?.body.messages[2].tool_calls[0]).toMatchObject({
      id: "c1",
      extra_content: { google: { thought_signature: "sign-1" } },
    });
  });

  it("reports no usage when the provider sent none", async () => {
    await using provider = await startFakeProvider([{ text: ["a"], usage: null }]);
    const chunks = await step(provider, { format: "openai" });
    expect(chunks.map(({ type }) => type)).toEqual(["text", "finish"]);
  });
});

interface TestConfig extends ApiConfig {
  readonly format: (typeof grammars)[number];
}

async function step(
  provider: FakeProvider,
  config: TestConfig,
  messages?: readonly Message[],
): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of open(provider, config, messages === undefined ? {} : { messages }))
    chunks.push(chunk);
  return chunks;
}

interface StepOptions {
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly messages?: readonly Message[];
}

function open(
  provider: FakeProvider,
  config: TestConfig,
  { signal = new AbortController().signal, clock = systemClock, messages = [user("hi")] }: StepOptions = {},
): AsyncIterable<ModelChunk> {
  const profile = resolveProfile(
    { provider: "router", model: "m", base_url: provider.baseUrl, api_key_env: "TEST_KEY", ...config },
    { TEST_KEY: KEY },
  );
  if (isUnusable(profile)) throw new Error(profile.message);
  const model = createAiSdkModel(profile, { clock, fetch: globalThis.fetch });
  return model.stream(requestOf(model, { messages, signal }));
}

function requestOf(
  model: ModelPort,
  { signal = new AbortController().signal, messages = [user("hi")] }: StepOptions = {},
): ModelRequest {
  return {
    loop: { sessionId: "s1", agentNumber: null, profile: "p" },
    system: ["be brief", "be kind"],
    messages,
    tools: [{ name: "Read", description: "reads", inputSchema: { type: "object", properties: {} } }],
    maxOutputTokens: model.maxOutputTokens,
    ...(model.thinking !== undefined && { thinking: model.thinking }),
    signal,
  };
}

function textOf(chunks: readonly ModelChunk[], type: "text" | "thinking"): string {
  return chunks.map((chunk) => (chunk.type === type ? chunk.text : "")).join("");
}

function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function result(toolUseId: string, content: string, isError: boolean): Message {
  return {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: toolUseId, content, is_error: isError }],
  };
}
