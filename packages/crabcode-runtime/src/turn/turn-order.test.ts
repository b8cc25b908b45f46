import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import { outline, type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";

const write = (id: string, name: string, content = "x") => ({
  id,
  name: "Write",
  input: { file_path: name, content },
});

describe("a turn", () => {
  it("answers with text and ends with one turn_complete", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: ["Hel", "lo"] }] });
    const events = await (await fixture.send("hi")).all();
    expect(outline(events)).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:Hel",
      "stream_text:lo",
      "turn_complete:end_turn",
    ]);
    expect(events.at(-1)).toMatchObject({ turn_count: 1, usage: { input_tokens: 10, output_tokens: 5 } });
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it("puts the envelope on every event", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const { operationId, events } = await fixture.runtime.sendMessage({
      session: { sessionId: "" },
      text: "x",
    });
    const payloads: Payload[] = [];
    for await (const event of events) {
      payloads.push(JSON.parse(event.payloadJson));
      expect(payloads.at(-1)?.type).toBe(event.type);
    }
    const session_id = payloads[0]?.["session_id"];
    const epoch = payloads[0]?.["epoch"];
    for (const payload of payloads) {
      expect(payload).toMatchObject({
        session_id,
        epoch,
        operation_id: operationId,
        operation_scope: "foreground",
      });
      expect(payload["ts"]).toBe("2026-01-01T00:00:00.000Z");
    }
    expect(operationId).toMatch(/^[0-9a-f]{32}$/);
  });

  it("shows thinking before the text", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ thinking: "hmm", text: "42" }] });
    expect(outline(await (await fixture.send("q")).all())).toEqual([
      "stream_mode:requesting",
      "stream_mode:thinking",
      "thinking:hmm",
      "stream_mode:responding",
      "stream_text:42",
      "turn_complete:end_turn",
    ]);
  });

  it("runs a read-only tool without asking", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { text: "Reading. ", tool_calls: [{ id: "c1", name: "Read", input: { file_path: "a.txt" } }] },
        { text: "It says hello." },
      ],
    });
    fixture.file("a.txt", "hello\n");
    const events = await (await fixture.send("read a.txt")).all();
    expect(outline(events)).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:Reading. ",
      "stream_mode:tool-input",
      "tool_use:c1",
      "stream_mode:tool-running",
      "tool_result:c1",
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:It says hello.",
      "turn_complete:end_turn",
    ]);
    expect(events[6]).toMatchObject({
      result: "     1|hello",
      is_error: false,
      tool_input: { file_path: "a.txt" },
      result_for_display: null,
    });
  });

  it("asks before it writes and tells what it did", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [write("c1", "b.txt", "x\n")] }, { text: "done" }],
    });
    const reader = await fixture.send("write");
    const request = await reader.find({ type: "permission_request" });
    expect(request).toMatchObject({
      tool_use_id: "c1",
      tool_input: { file_path: "b.txt", content: "x\n" },
      permission_key: "Write",
      agent_id: null,
      request_kind: "tool",
      expires_at: "2026-01-01T00:30:00.000Z",
    });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1", isAllowed: true });
    const events = await reader.all();
    expect(outline(events).slice(1, 7)).toEqual([
      "stream_mode:tool-input",
      "tool_use:c1",
      "permission_request:c1",
      "stream_mode:tool-running",
      "file_change",
      "tool_result:c1",
    ]);
    expect((await reader.find({ type: "tool_result" }))["result"]).toMatch(
      /^Created .*b\.txt \(1 lines\)\.$/,
    );
  });

  it("reports a refusal without running anything", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [write("c1", "b.txt")] }, { text: "ok" }],
    });
    const reader = await fixture.send("write");
    await reader.find({ type: "permission_request" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1", isAllowed: false });
    const events = await reader.all();
    expect(outline(events)).not.toContain("stream_mode:tool-running");
    expect(await reader.find({ type: "tool_result" })).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/^Permission denied/),
    });
    expect(fixture.toolbox.files.size).toBe(0);
  });

  it("item 12: reports refusals before approved calls run, and stores results in call order", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [write("c1", "1.txt"), write("c2", "2.txt")] }, { text: "half done" }],
    });
    const reader = await fixture.send("go");
    await reader.find({ type: "permission_request", tool_use_id: "c1" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1", isAllowed: true });
    await reader.find({ type: "permission_request", tool_use_id: "c2" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c2", isAllowed: false });
    const events = await reader.all();
    expect(outline(events).slice(2, 10)).toEqual([
      "tool_use:c1",
      "tool_use:c2",
      "permission_request:c1",
      "permission_request:c2",
      "tool_result:c2",
      "stream_mode:tool-running",
      "file_change",
      "tool_result:c1",
    ]);
    expect(resultIds(fixture.models.requests[1]?.messages.at(-1))).toEqual(["c1", "c2"]);
  });

  it("runs concurrency-safe calls together and reports them in call order", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        {
          tool_calls: [
            { id: "c1", name: "Read", input: { file_path: "a.txt" } },
            { id: "c2", name: "Grep", input: { pattern: "zzz" } },
          ],
        },
        { text: "ok" },
      ],
    });
    fixture.file("a.txt", "a\n");
    const events = await (await fixture.send("look")).all();
    expect(outline(events).slice(4, 7)).toEqual([
      "stream_mode:tool-running",
      "tool_result:c1",
      "tool_result:c2",
    ]);
    expect(events[6]).toMatchObject({ result: "No matches found.", is_error: false });
  });

  it("lets an unknown tool fail in execution", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [{ id: "c1", name: "Nope", input: {} }] }, { text: "sorry" }],
    });
    const events = await (await fixture.send("x")).all();
    expect(outline(events)[3]).toBe("stream_mode:tool-running");
    expect(events[4]).toMatchObject({ result: "Error: unknown tool 'Nope'", is_error: true });
  });

  it("item 21: neither asks about nor runs a call with invalid arguments", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        {
          tool_calls: [
            { id: "c1", name: "Edit", input: { file_path: "a", old_string: "a", new_string: "a" } },
            { id: "c2", name: "Bash", raw_input: '{"command": "rm' },
            { id: "c3", name: "Bash", input: { command: 5 } },
            // It would run without arguments, too.
            { id: "c4", name: "AgentStatus", raw_input: '{"agent_id": "' },
          ],
        },
        { text: "sorry" },
      ],
    });
    const events = await (await fixture.send("x")).all();
    const results = events.filter(({ type }) => type === "tool_result");
    expect(results.map(({ result }) => String(result).split(":")[0])).toEqual(
      Array(4).fill("Validation error"),
    );
    expect(outline(events)).not.toContain("stream_mode:tool-running");
    expect(events.find(({ tool_use_id }) => tool_use_id === "c2")?.["tool_input"]).toEqual({});
    expect(fixture.toolbox.commands).toEqual([]);
  });

  it("stops at max_turns after the calls of that step", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [{ id: "c1", name: "Glob", input: { pattern: "*" } }] }],
    });
    const events = await (await fixture.send("x", { maxTurns: 1 })).all();
    expect(outline(events).slice(-2)).toEqual(["tool_result:c1", "turn_complete:max_turns_reached"]);
    expect(fixture.models.requests).toHaveLength(1);
  });

  it("says when the model answered nothing and keeps nothing of it", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ thinking: "hm" }, { text: "b" }] });
    const events = await (await fixture.send("x")).all();
    expect(outline(events).at(-1)).toBe("turn_complete:empty_response");
    await (await fixture.send("y")).all();
    expect(rolesOf(fixture.models.requests[1]?.messages)).toEqual(["user", "user", "user"]);
  });

  it("makes call ids unique over the whole conversation", async () => {
    const call = (id: string) => ({ id, name: "Glob", input: { pattern: "*" } });
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [call("call_0")] }, { tool_calls: [call("call_0"), call("")] }, { text: "ok" }],
    });
    const events = await (await fixture.send("x")).all();
    const ids = events.filter(({ type }) => type === "tool_use").map(({ tool_use_id }) => tool_use_id);
    expect(ids[0]).toBe("call_0");
    expect(ids.slice(1)).toEqual([
      expect.stringMatching(/^toolu_[0-9a-z]{24}$/),
      expect.stringMatching(/^toolu_[0-9a-z]{24}$/),
    ]);
    expect(new Set(ids).size).toBe(3);
    expectValidHistory(fixture.models.requests[2]?.messages);
  });

  it("replaces lone surrogates everywhere and keeps pairs that two chunks share", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        {
          text: ["\uD83E", "\uDD80 ", "a\uD800"],
          tool_calls: [write("c1", "s.txt", "x\uD800y")],
        },
        { text: "ok" },
      ],
      settings: { permissions: { run_everything: true } },
    });
    const events = await (await fixture.send("x\uDC00")).all();
    const texts = events.filter(({ type }) => type === "stream_text").map(({ text }) => text);
    expect(texts.slice(0, -1).join("")).toBe("🦀 a\uFFFD");
    expect(events.find(({ type }) => type === "tool_use")?.["tool_input"]).toEqual({
      file_path: "s.txt",
      content: "x\uFFFDy",
    });
    expect([...fixture.toolbox.files.values()]).toEqual(["x\uFFFDy"]);
    expect(JSON.stringify(fixture.models.requests)).not.toMatch(/\\ud[89a-f]/i);
  });

  it("switches nothing by itself when a plan is handed in, and ends the turn", async () => {
    const steps = [
      { id: "s1", title: "one" },
      { id: "s2", depends_on: ["s1"] },
    ];
    await using fixture = await RuntimeFixture.create({
      script: [
        {
          tool_calls: [
            {
              id: "c1",
              name: "SwitchMode",
              input: { target_mode: "agent", explanation: "ready", plan: { title: "T", steps } },
            },
          ],
        },
      ],
    });
    await fixture.runtime.switchMode("", "plan");
    const events = await (await fixture.send("plan it")).all();
    expect(outline(events).slice(1)).toEqual([
      "stream_mode:tool-input",
      "tool_use:c1",
      "stream_mode:tool-running",
      "plan_ready",
      "mode_change:agent",
      "tool_result:c1",
      "turn_complete:mode_switch_requested",
    ]);
    expect(fixture.models.requests[0]?.tools.map(({ name }) => name)).not.toContain("Bash");
    const bus = await fixture.subscribe();
    expect((await bus.find({ type: "server.connected" }))["properties"]).toMatchObject({ mode: "plan" });
    bus.leave();
  });

  it("goes into plan mode by itself when the model asks, and back only when a client says so", async () => {
    const ask = (target_mode: string) => ({
      tool_calls: [
        { id: "", name: "SwitchMode", input: { target_mode, plan: { title: "T", steps: [{ id: "1" }] } } },
      ],
    });
    await using fixture = await RuntimeFixture.create({
      script: [ask("plan"), ask("agent"), { text: "ok" }],
    });
    const bus = await fixture.subscribe();
    await (await fixture.send("x")).ended;
    await (await fixture.send("y")).ended;
    await (await fixture.send("z")).ended;
    const offered = fixture.models.requests.map(({ tools }) => tools.some(({ name }) => name === "Write"));
    expect(offered).toEqual([true, false, false]);
    await bus.find({ type: "turn_complete" }, 3);
    expect(outline(bus.events).filter((line) => line.startsWith("mode_change"))).toEqual([
      "mode_change:plan",
      "mode_change:agent",
    ]);
  });

  it("gives a call no more time than the settings do", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [{ id: "c1", name: "Bash", input: { command: "sleep 99" } }] }, { text: "ok" }],
      settings: { tool_call_timeout: 5, permissions: { run_everything: true } },
    });
    const started = Promise.withResolvers<void>();
    fixture.toolbox.onCommand = ({ signal }) => {
      started.resolve();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({})));
    };
    const reader = await fixture.send("x");
    await started.promise;
    await fixture.clock.advance(5000);
    expect((await reader.find({ type: "tool_result" }))["result"]).toBe("Error: Bash timed out after 5 s");
    expect(outline(await reader.all()).at(-1)).toBe("turn_complete:end_turn");
  });

  it("refuses a plan whose steps wait for each other", async () => {
    const steps = [
      { id: "s1", depends_on: ["s2"] },
      { id: "s2", depends_on: ["s1"] },
    ];
    await using fixture = await RuntimeFixture.create({
      script: [
        {
          tool_calls: [
            { id: "c1", name: "SwitchMode", input: { target_mode: "agent", plan: { title: "T", steps } } },
          ],
        },
        { text: "let me fix it" },
      ],
    });
    await fixture.runtime.switchMode("", "plan");
    const events = await (await fixture.send("plan it")).all();
    expect(outline(events).slice(3, 6)).toEqual([
      "stream_mode:tool-running",
      "tool_result:c1",
      "stream_mode:requesting",
    ]);
  });
});

function resultIds(message: Message | undefined): string[] {
  return (message?.content ?? []).flatMap((block) =>
    block.type === "tool_result" ? [block.tool_use_id] : [],
  );
}

function rolesOf(messages: readonly Message[] | undefined): string[] {
  return (messages ?? []).map(({ role }) => role);
}

function expectValidHistory(messages: readonly Message[] | undefined): void {
  for (const [index, { content }] of (messages ?? []).entries()) {
    const uses = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    if (uses.length > 0) expect(resultIds(messages?.[index + 1])).toEqual(uses);
  }
}
