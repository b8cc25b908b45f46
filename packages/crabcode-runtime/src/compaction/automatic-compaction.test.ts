import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../ports/model-port.ts";
import { outline, type Payload, type Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

/** About 10 000 tokens. */
const LONG = "lorem ipsum dolor sit. ".repeat(1740);

function textsOf(request: ModelRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) =>
      block.type === "text" ? [block.text] : block.type === "tool_result" ? [block.content] : [],
    ),
  );
}

const compactions = (events: readonly Payload[]): Payload[] =>
  events.filter(({ type }) => type === "compact");

/** A window of 54 000 tokens is compacted from about 29 500 on. */
async function longConversation(
  script: readonly ScriptEntry[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({
    script: [{ text: "a1" }, { text: "a2" }, ...script],
    settings,
  });
  fixture.models.contextWindowTokens = 54_000;
  await (await fixture.send(`first ${LONG}`)).all();
  await (await fixture.send(`second ${LONG}`)).all();
  return fixture;
}

/** What a request has beside its messages. */
async function emptyRequestTokens(): Promise<number> {
  await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
  return Number((await send(fixture, "q")).at(-1)?.["context_used_tokens"]);
}

async function send(fixture: RuntimeFixture, text: string): Promise<Payload[]> {
  const reader: Reader = await fixture.send(text);
  return reader.all();
}

describe("a conversation that fills the window", () => {
  it("is summarised before the request, and the transcript keeps everything", async () => {
    await using fixture = await longConversation([{ text: "SUMMARY OF ALL" }, { text: "done" }]);
    const events = await send(fixture, `third ${LONG}`);
    expect(outline(events)).toEqual([
      "stream_mode:compacting",
      "compact",
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:done",
      "turn_complete:end_turn",
    ]);
    expect(compactions(events)).toMatchObject([
      { trigger: "auto", messages_before: 5, messages_after: 3, agent_id: null },
    ]);
    expect(events.at(-1)).toMatchObject({ turn_count: 1, usage: { input_tokens: 10, output_tokens: 5 } });
    const [, , summaryRequest, request] = fixture.models.requests;
    expect(summaryRequest).toMatchObject({ tools: [], maxOutputTokens: 4096 });
    expect(textsOf(summaryRequest).join()).toContain("first lorem");
    expect(textsOf(summaryRequest).join()).not.toContain("third lorem");
    // Behind the user context.
    const [, summary, question, marker] = textsOf(request);
    expect(summary).toBe("[Conversation summary: SUMMARY OF ALL]");
    expect(question).toContain("third lorem");
    expect(marker).toMatch(/^\[Conversation was compacted/);
    const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "" });
    expect(messages).toHaveLength(6);
    const projected = await fixture.runtime.sessions.listMessages({ sessionId: "", isProjected: true });
    expect(projected.messages.map(({ message: { role, origin } }) => origin ?? role)).toEqual([
      "compact-summary",
      "user",
      "compact-summary",
      "assistant",
    ]);
  });

  it("stays compacted after a restart", async () => {
    await using fixture = await longConversation([{ text: "SUMMARY" }, { text: "done" }, { text: "later" }]);
    await send(fixture, `third ${LONG}`);
    await fixture.closeRuntime();
    fixture.runtime = fixture.start();
    await send(fixture, "fourth");
    const texts = textsOf(fixture.models.requests.at(-1));
    expect(texts[1]).toBe("[Conversation summary: SUMMARY]");
    expect(texts.slice(-2)).toEqual(["done", "fourth"]);
    expect(texts.join()).not.toContain("second lorem");
  });

  it("has the last steps of a long turn left, with calls and results together", async () => {
    const call = (id: string, text = ""): ScriptEntry => ({
      text,
      tool_calls: [{ id, name: "Bash", input: { command: "x" } }],
    });
    await using fixture = await RuntimeFixture.create({
      script: [...Array(4).keys()]
        .map((n) => call(`c${n}`, LONG.slice(0, 32_000)))
        .concat([{ text: "SUMMARY" }, call("last"), { text: "done" }]),
      settings: { permissions: { default_mode: "bypassPermissions" } },
    });
    fixture.models.contextWindowTokens = 54_000;
    const events = await send(fixture, "do it");
    expect(compactions(events)).toHaveLength(1);
    expect(outline(events).at(-1)).toBe("turn_complete:end_turn");
    const request = fixture.models.requests.find((one) => textsOf(one)[1]?.includes("SUMMARY"));
    expect(request?.messages[2]).toMatchObject({ role: "assistant" });
    for (const one of fixture.models.requests) assertPairs(one);
  });

  it("only has its old results shortened where that is enough, those of the turn less", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { tool_calls: [{ id: "c1", name: "Bash", input: { command: "old" } }] },
        { text: "a" },
        { tool_calls: [{ id: "c2", name: "Bash", input: { command: "new" } }] },
        { text: "b" },
      ],
      settings: { permissions: { default_mode: "bypassPermissions" } },
    });
    fixture.models.contextWindowTokens = 54_000;
    fixture.toolbox.onCommand = async ({ command }) => ({ stdout: command.repeat(33_000).slice(0, 99_000) });
    await send(fixture, "x");
    const events = await send(fixture, "y");
    expect(compactions(events)).toMatchObject([{ trigger: "auto", messages_before: 7, messages_after: 7 }]);
    expect(outline(events)).not.toContain("stream_mode:compacting");
    const results = textsOf(fixture.models.requests.at(-1)).filter((text) => text.includes("characters cut"));
    const [old, current] = results.map(({ length }) => length);
    expect(old).toBeLessThanOrEqual(2000);
    expect(old).toBeGreaterThan(1900);
    expect(current).toBeLessThanOrEqual(8000);
    expect(current).toBeGreaterThan(7900);
  });

  it("gets a summary without a model when the model fails", async () => {
    await using fixture = await longConversation([
      { failure: { kind: "other", message: "no" } },
      { text: "done" },
    ]);
    const events = await send(fixture, `third ${LONG}`);
    expect(compactions(events)).toHaveLength(1);
    expect(outline(events).at(-1)).toBe("turn_complete:end_turn");
    const summary = textsOf(fixture.models.requests.at(-1))[1];
    expect(summary).toMatch(/^\[Conversation summary: Objective: first lorem/);
    expect(summary).toContain("4 earlier messages");
  });

  it("has the summary tried again after a passing failure", async () => {
    await using fixture = await longConversation([
      { failure: { kind: "transient", message: "busy" } },
      { text: "SUMMARY" },
      { text: "done" },
    ]);
    const reader = await fixture.send(`third ${LONG}`);
    await reader.find({ type: "stream_mode", mode: "compacting" });
    let isOver = false;
    void reader.ended.finally(() => {
      isOver = true;
    });
    while (!isOver) await fixture.clock.advance(1000);
    expect(textsOf(fixture.models.requests.at(-1))[1]).toBe("[Conversation summary: SUMMARY]");
  });

  it("is summarised in part when the provider finds even that too large", async () => {
    const failure = { kind: "contextOverflow" as const, message: "too long" };
    await using fixture = await longConversation([
      { failure },
      { failure },
      { text: "SUMMARY" },
      { text: "done" },
    ]);
    await send(fixture, `third ${LONG}`);
    const [, , whole, , quarter, request] = fixture.models.requests.map((one) => textsOf(one).join());
    expect(textsOf(fixture.models.requests.at(-1))[1]).toBe("[Conversation summary: SUMMARY]");
    expect(whole?.length).toBeGreaterThan(80_000);
    expect(quarter?.length).toBeLessThan(50_000);
    expect(quarter).toContain("first lorem");
    expect(request).toContain("third lorem");
  });

  it("is left as it is when a hook forbids it, which is not asked again with every step", async () => {
    await using fixture = await longConversation(
      [{ tool_calls: [{ id: "c1", name: "Glob", input: { pattern: "*" } }] }, { text: "done" }],
      { hooks: { pre_compact: [{ command: "no" }] } },
    );
    const inputs: unknown[] = [];
    fixture.toolbox.onCommand = async ({ input }) => {
      inputs.push(JSON.parse(input ?? ""));
      return { exitCode: 1 };
    };
    const events = await send(fixture, `third ${LONG}`);
    expect(compactions(events)).toEqual([]);
    expect(outline(events).at(-1)).toBe("turn_complete:end_turn");
    expect(inputs).toMatchObject([{ trigger: "auto", custom_instructions: "" }]);
    expect(fixture.models.requests).toHaveLength(4);
  });

  it("of a window that holds little but tools is not summarised with every request", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [...Array(6).keys()].map((n) => ({ text: `a${n}` })),
    });
    // Room for the messages and an answer, and far above the limit for compaction.
    fixture.models.contextWindowTokens = (await emptyRequestTokens()) + 1_500;
    for (const n of Array(6).keys()) {
      expect(outline(await send(fixture, `q${n}`))).toEqual([
        "stream_mode:requesting",
        "stream_mode:responding",
        `stream_text:a${n}`,
        "turn_complete:end_turn",
      ]);
    }
  });

  it("of a small window may fill a third of it, however long the answers may be", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ text: "1" }, { text: "2" }, { text: "3" }],
    });
    fixture.models.contextWindowTokens = Math.ceil(((await emptyRequestTokens()) + 3_500) / 0.35);
    await send(fixture, LONG.slice(0, 11_000));
    await send(fixture, "second");
    expect(compactions(await send(fixture, "third"))).toEqual([]);
    expect(fixture.models.requests).toHaveLength(3);
  });

  it("is left as it is when compacting is switched off", async () => {
    await using fixture = await longConversation([{ text: "done" }], { auto_compact_enabled: false });
    const events = await send(fixture, `third ${LONG}`);
    expect(compactions(events)).toEqual([]);
    expect(outline(events).at(-1)).toBe("turn_complete:end_turn");
  });

  it("is compacted earlier when the settings say so", async () => {
    await using fixture = await longConversation([{ text: "SUMMARY" }, { text: "done" }], {
      max_context_length: 20_000,
    });
    expect(compactions(await send(fixture, "third"))).toMatchObject([{ trigger: "auto" }]);
  });

  it("is left as it is by an interrupt while it is being summarised", async () => {
    await using fixture = await longConversation([{ text: "S", hold: "never" }, { text: "done" }]);
    const reader = await fixture.send(`third ${LONG}`);
    await reader.find({ type: "stream_mode", mode: "compacting" });
    await fixture.runtime.interruptTurn("");
    expect(outline(await reader.all())).toEqual(["stream_mode:compacting", "turn_complete:interrupted"]);
    const projected = await fixture.runtime.sessions.listMessages({ sessionId: "", isProjected: true });
    expect(projected.messages).toHaveLength(5);
  });
});

describe("an answer with nothing in it behind a compacted history", () => {
  it("is asked for once more", async () => {
    await using fixture = await longConversation([{ text: "SUMMARY" }, {}, { text: "done" }]);
    const events = await send(fixture, `third ${LONG}`);
    expect(outline(events).slice(2)).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:done",
      "turn_complete:end_turn",
    ]);
    expect(events.at(-1)).toMatchObject({ turn_count: 1 });
    expect(textsOf(fixture.models.requests.at(-1)).at(-1)).toMatch(
      /^\[The previous attempt returned no content after compaction/,
    );
    const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "", isProjected: true });
    expect(JSON.stringify(messages)).not.toContain("previous attempt");
  });

  it("ends the turn with an error the second time", async () => {
    await using fixture = await longConversation([
      { text: "SUMMARY" },
      {},
      { thinking: "hm" },
      { text: "never" },
    ]);
    const events = await send(fixture, `third ${LONG}`);
    expect(outline(events).slice(-2)).toEqual(["error:empty_response", "turn_complete:empty_response"]);
    expect(events.at(-2)).toMatchObject({ recoverable: true });
  });

  it("is an ordinary end once something was answered", async () => {
    await using fixture = await longConversation([{ text: "SUMMARY" }, { text: "done" }, {}]);
    await send(fixture, `third ${LONG}`);
    expect(outline(await send(fixture, "x"))).toEqual([
      "stream_mode:requesting",
      "turn_complete:empty_response",
    ]);
  });
});

describe("a request that the provider finds too large", () => {
  const overflow = (limit?: number): ScriptEntry => ({
    failure: {
      kind: "contextOverflow",
      message: "too long",
      ...(limit !== undefined && { contextWindowTokens: limit }),
    },
  });

  it("is made again after a compaction, as the same step", async () => {
    await using fixture = await longConversation([overflow(30_000), { text: "SUMMARY" }, { text: "after" }]);
    const events = await send(fixture, "3");
    expect(outline(events)).toEqual([
      "stream_mode:requesting",
      "stream_mode:compacting",
      "compact",
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:after",
      "turn_complete:end_turn",
    ]);
    expect(compactions(events)).toMatchObject([{ trigger: "overflow", messages_before: 5 }]);
    expect(events.at(-1)).toMatchObject({ turn_count: 1 });
    const [, , , , retried] = fixture.models.requests;
    expect(retried?.maxOutputTokens).toBeLessThanOrEqual(16_384);
  });

  it("is given up after the second time", async () => {
    await using fixture = await longConversation([
      overflow(),
      { text: "SUMMARY" },
      overflow(),
      overflow(),
      { text: "never" },
    ]);
    const events = await send(fixture, "3");
    expect(outline(events).slice(-2)).toEqual(["error:context_overflow", "turn_complete:context_overflow"]);
    expect(fixture.models.entries.at(-1)).toEqual({ text: "never" });
    expect(events.at(-1)).toMatchObject({ turn_count: 1 });
  });

  it("leaves more room for what it holds when there is nothing to summarise", async () => {
    await using fixture = await RuntimeFixture.create({ script: [overflow(20_000), { text: "fits" }] });
    const events = await send(fixture, LONG);
    expect(outline(events)).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:fits",
      "turn_complete:end_turn",
    ]);
    const [first, second] = fixture.models.requests;
    expect(first?.maxOutputTokens).toBe(16_384);
    expect(second?.maxOutputTokens).toBeLessThan(10_000);
  });

  it("is not made again once something was seen", async () => {
    await using fixture = await longConversation([{ text: "half", ...overflow(), failsAfterOutput: true }]);
    expect(outline(await send(fixture, "3")).slice(-2)).toEqual([
      "error:context_overflow",
      "turn_complete:context_overflow",
    ]);
  });
});

describe("the conversation of an agent", () => {
  it("is compacted in its own name, from its own script", async () => {
    const step = (id: string): ScriptEntry => ({
      agent: 1,
      text: LONG.slice(0, 32_000),
      tool_calls: [{ id, name: "Bash", input: { command: "x" } }],
    });
    await using fixture = await RuntimeFixture.create({
      script: [
        ...["c1", "c2", "c3", "c4"].map(step),
        { agent: 1, text: "SUMMARY" },
        { agent: 1, text: "done" },
      ],
      settings: { permissions: { default_mode: "bypassPermissions" } },
    });
    fixture.models.contextWindowTokens = 54_000;
    const bus = await fixture.subscribe();
    const { agentId } = await fixture.runtime.spawnAgent({ session: { sessionId: "" }, prompt: "work" });
    await bus.find({ type: "agent_state", status: "completed" });
    expect(compactions(bus.events)).toMatchObject([{ trigger: "auto", agent_id: agentId }]);
    expect(bus.events.filter(({ type }) => type === "stream_mode")).toEqual([]);
    for (const request of fixture.models.requests) assertPairs(request);
    const projected = await fixture.runtime.sessions.listMessages({
      sessionId: "",
      agentId,
      isProjected: true,
    });
    expect(projected.messages[0]?.message).toMatchObject({
      origin: "compact-summary",
      content: [{ text: "[Conversation summary: SUMMARY]" }],
    });
    bus.leave();
  });
});

/** Every call is answered by the next message, and nothing answers a call that is not there. */
function assertPairs({ messages }: ModelRequest): void {
  for (const [index, { content }] of messages.entries()) {
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    const results = (messages[index + 1]?.content ?? []).flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    expect(results).toEqual(calls);
  }
}
