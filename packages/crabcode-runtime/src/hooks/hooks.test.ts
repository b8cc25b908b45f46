import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import type { CommandResult, ToolboxPort } from "../ports/toolbox-port.ts";
import { FakeCodeCells } from "../testing/fake-code-cells.ts";
import { type FixtureOptions, outline, type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

type Command = Parameters<ToolboxPort["runCommand"]>[0];
type Answer = Partial<CommandResult> | (() => Promise<Partial<CommandResult>>);

const read: ScriptEntry = { tool_calls: [{ id: "c1", name: "Read", input: { file_path: "a.txt" } }] };

/** Runs hooks by their command: what they answer, and what they were given. */
async function hooked(
  { hooks, ...options }: FixtureOptions & { readonly hooks: unknown },
  answers: Readonly<Record<string, Answer>>,
): Promise<RuntimeFixture & { readonly ran: Command[] }> {
  const fixture = await RuntimeFixture.create({ ...options, settings: { ...options.settings, hooks } });
  const ran: Command[] = [];
  fixture.file("a.txt", "content");
  fixture.toolbox.onCommand = async (command) => {
    ran.push(command);
    const answer = answers[command.command];
    return typeof answer === "function" ? answer() : (answer ?? { stdout: "ran" });
  };
  return Object.assign(fixture, { ran });
}

async function send(fixture: RuntimeFixture, text = "x"): Promise<Payload[]> {
  return (await fixture.send(text)).all();
}

const result = (events: readonly Payload[]): Payload | undefined =>
  events.find(({ type }) => type === "tool_result");

const lastMessage = (fixture: RuntimeFixture): Message | undefined =>
  fixture.models.requests.at(-1)?.messages.at(-1);

describe("a hook of prompts", () => {
  it("that fails keeps the message out of everything", async () => {
    await using fixture = await hooked(
      { script: [{ text: "a" }], hooks: { UserPromptSubmit: [{ command: "check" }] } },
      { check: { stdout: "not like this\n", exitCode: 1 } },
    );
    const events = await send(fixture, "forbidden");
    expect(outline(events)).toEqual(["error:hook", "turn_complete:hook_blocked"]);
    expect(events[0]).toMatchObject({
      recoverable: true,
      message: "a hook blocked the prompt: not like this",
    });
    expect(events[1]).toMatchObject({ turn_count: 0, usage: { input_tokens: 0, output_tokens: 0 } });
    expect(fixture.ran[0]).toMatchObject({ input: JSON.stringify({ user_text: "forbidden" }) });
    expect((await fixture.runtime.sessions.listMessages({ sessionId: "" })).messages).toEqual([]);
    expect((await fixture.runtime.sessions.get("")).title).toBe("");
  });

  it("that passes adds what it said behind the message", async () => {
    await using fixture = await hooked(
      { script: [{ text: "a" }], hooks: { user_prompt_submit: [{ command: "note" }] } },
      { note: { stdout: "", stderr: "branch: main\n" } },
    );
    await send(fixture, "hello");
    expect(lastMessage(fixture)?.content).toEqual([
      { type: "text", text: "hello" },
      { type: "text", text: "<user-prompt-submit-hook>\nbranch: main\n</user-prompt-submit-hook>" },
    ]);
    expect((await fixture.runtime.sessions.get("")).title).toBe("hello");
  });

  it("is not asked about what agents hand over", async () => {
    await using fixture = await hooked(
      {
        script: [
          { agent: 1, text: "found" },
          { agent: null, text: "thanks" },
        ],
        hooks: { user_prompt_submit: [{ command: "check" }] },
      },
      {},
    );
    const bus = await fixture.subscribe();
    await fixture.runtime.spawnAgent({ session: { sessionId: "" }, prompt: "look", hasCallback: true });
    await bus.find({ type: "turn_complete", reason: "end_turn" });
    expect(fixture.ran).toEqual([]);
    bus.leave();
  });

  it("is ended by an interrupt, and the message is dropped", async () => {
    let aborted: AbortSignal | undefined;
    await using fixture = await hooked(
      { script: [{ text: "a" }], hooks: { user_prompt_submit: [{ command: "slow" }] } },
      {},
    );
    const begun = Promise.withResolvers<void>();
    fixture.toolbox.onCommand = ({ signal }) => {
      aborted = signal;
      begun.resolve();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    };
    const reader = await fixture.send("x");
    await begun.promise;
    await fixture.runtime.interruptTurn("");
    expect(outline(await reader.all())).toEqual(["turn_complete:interrupted"]);
    expect(aborted?.aborted).toBe(true);
    expect((await fixture.runtime.sessions.listMessages({ sessionId: "" })).messages).toEqual([]);
  });

  it("that hangs holds neither the interrupt nor the end of the session", async () => {
    await using fixture = await hooked(
      { script: [{ text: "a" }], hooks: { user_prompt_submit: [{ command: "stuck" }] } },
      {},
    );
    const begun = Promise.withResolvers<void>();
    fixture.toolbox.onCommand = () => {
      begun.resolve();
      return new Promise(() => {});
    };
    const reader = await fixture.send("x");
    await begun.promise;
    // Moves the clock until the session has closed.
    await fixture.closeRuntime();
    expect(reader.events.at(-1)).toMatchObject({ type: "turn_complete", reason: "interrupted" });
    fixture.runtime = fixture.start();
  });
});

describe("a hook before a call", () => {
  it("that fails answers the call, and the model reads why", async () => {
    await using fixture = await hooked(
      {
        script: [read, { text: "ok" }],
        hooks: { PreToolUse: [{ matcher: "Read", hooks: [{ type: "command", command: "check" }] }] },
      },
      { check: { stdout: "forbidden", exitCode: 2 } },
    );
    const events = await send(fixture);
    expect(outline(events).slice(0, 5)).toEqual([
      "stream_mode:requesting",
      "stream_mode:tool-input",
      "tool_use:c1",
      "stream_mode:tool-running",
      "tool_result:c1",
    ]);
    expect(result(events)).toMatchObject({ is_error: true, result: "Hook blocked tool call: forbidden" });
    expect(lastMessage(fixture)?.content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "c1",
        content: "Hook blocked tool call: forbidden",
        is_error: true,
      },
      { type: "text", text: "<pre-tool-call-hook>\nforbidden\n</pre-tool-call-hook>" },
    ]);
  });

  it("is told of the call on standard input and in variables", async () => {
    await using fixture = await hooked(
      {
        script: [read, { text: "ok" }],
        hooks: { pre_tool_call: [{ command: "look", timeout: 7 }] },
        settings: { env: { MINE: "1" } },
      },
      { look: {} },
    );
    await send(fixture);
    const payload = {
      tool_name: "Read",
      tool_input: { file_path: "a.txt" },
      tool_use_id: "c1",
      agent_id: null,
    };
    const [command] = fixture.ran;
    expect(JSON.parse(command?.input ?? "")).toEqual(payload);
    expect(command?.timeoutMs).toBe(7000);
    expect(command?.environment).toEqual({
      MINE: "1",
      CRABCODE_HOOK_EVENT: "pre_tool_call",
      CRABCODE_HOOK_PAYLOAD: JSON.stringify(payload),
      CRABCODE_HOOK_TOOL_NAME: "Read",
      CRABCODE_HOOK_TOOL_USE_ID: "c1",
      CRABCODE_HOOK_AGENT_ID: "",
    });
  });

  it("gets a payload that is too long for a variable on standard input only", async () => {
    const content = "x".repeat(100_000);
    await using fixture = await hooked(
      {
        script: [
          { tool_calls: [{ id: "c1", name: "Write", input: { file_path: "b", content } }] },
          { text: "ok" },
        ],
        hooks: { pre_tool_call: [{ command: "look" }] },
        settings: { permissions: { default_mode: "bypassPermissions" } },
      },
      { look: {} },
    );
    await send(fixture);
    expect(fixture.ran[0]?.input).toContain(content);
    expect(fixture.ran[0]?.environment).not.toHaveProperty("CRABCODE_HOOK_PAYLOAD");
  });

  it("runs only for the tools its matcher names, and after the permission", async () => {
    await using fixture = await hooked(
      {
        script: [read, { text: "ok" }],
        hooks: {
          pre_tool_call: [
            { command: "all" },
            { command: "other", matcher: "Write" },
            { command: "fits", matcher: ["Re*"] },
          ],
          user_prompt_submit: [{ command: "never", matcher: "*" }],
        },
        settings: { permissions: { deny: [{ tool: "Grep" }] } },
      },
      {},
    );
    await send(fixture);
    expect(fixture.ran.map(({ command }) => command)).toEqual(["all", "fits"]);
    fixture.models.entries.push(
      { tool_calls: [{ id: "c2", name: "Grep", input: { pattern: "x" } }] },
      { text: "ok" },
    );
    await send(fixture);
    expect(fixture.ran).toHaveLength(2);
  });

  it("that fails is the last one, unless the settings let it pass", async () => {
    await using fixture = await hooked(
      {
        script: [read, { text: "ok" }],
        hooks: {
          pre_tool_call: [
            { command: "lenient", continue_on_error: true },
            { command: "strict" },
            { command: "later" },
          ],
        },
      },
      {
        lenient: { stdout: "hm", exitCode: 1 },
        strict: { exitCode: null, signal: "SIGKILL", stdout: "" },
      },
    );
    const events = await send(fixture);
    expect(fixture.ran.map(({ command }) => command)).toEqual(["lenient", "strict"]);
    expect(result(events)?.["result"]).toBe("Hook blocked tool call: hm\nthe hook ended with signal SIGKILL");
  });

  it.each<[string, Answer, string]>([
    ["does not end in time", { isTimedOut: true, exitCode: null }, "the hook did not end within 60 s"],
    ["cannot be run", () => Promise.reject(new Error("no shell")), "the hook could not be run"],
    ["fails without a word", { stdout: "", exitCode: 3 }, "the hook ended with exit code 3"],
  ])("blocks when it %s", async (_, answer, why) => {
    await using fixture = await hooked(
      { script: [read, { text: "ok" }], hooks: { pre_tool_call: [{ command: "check" }] } },
      { check: answer },
    );
    expect(result(await send(fixture))?.["result"]).toBe(`Hook blocked tool call: ${why}`);
  });

  it("says at most 10 000 characters to the model", async () => {
    await using fixture = await hooked(
      { script: [read, { text: "ok" }], hooks: { pre_tool_call: [{ command: "chatty" }] } },
      { chatty: { stdout: "y".repeat(20_000) } },
    );
    await send(fixture);
    const said = lastMessage(fixture)?.content[1];
    expect(said?.type === "text" && said.text.match(/y/g)?.length).toBe(10_000);
  });
});

it.each([
  { event: "pre_tool_call", files: [] },
  { event: "post_tool_call", files: ["b.txt"] },
])("a hook at $event is ended by an interrupt; the call has its one result", async ({ event, files }) => {
  const input = { file_path: "b.txt", content: "x" };
  await using fixture = await hooked(
    {
      script: [{ tool_calls: [{ id: "c1", name: "Write", input }] }, { text: "never" }],
      hooks: { [event]: [{ command: "slow" }, { command: "later" }] },
      settings: { permissions: { default_mode: "bypassPermissions" } },
    },
    {},
  );
  const begun = Promise.withResolvers<void>();
  const commands: string[] = [];
  fixture.toolbox.files.clear();
  fixture.toolbox.onCommand = ({ command, signal }) => {
    commands.push(command);
    begun.resolve();
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  };
  const reader = await fixture.send("x");
  await begun.promise;
  await fixture.runtime.interruptTurn("");
  const events = await reader.all();
  expect(outline(events).slice(-2)).toEqual(["tool_result:c1", "turn_complete:interrupted"]);
  expect(result(events)).toMatchObject({ is_error: true, result: "Interrupted" });
  expect(commands).toEqual(["slow"]);
  expect([...fixture.toolbox.files.keys()].map((path) => basename(path))).toEqual(files);
  const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "" });
  expect(messages.at(-1)?.message.content).toMatchObject([{ tool_use_id: "c1", content: "Interrupted" }]);
});

describe("a hook after a call", () => {
  it("that fails makes the result an error and adds what it said", async () => {
    await using fixture = await hooked(
      { script: [read, { text: "ok" }], hooks: { PostToolUse: [{ command: "lint" }] } },
      { lint: { stdout: "2 problems", exitCode: 1 } },
    );
    const events = await send(fixture);
    expect(result(events)).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/content\n2 problems$/),
    });
    expect(JSON.parse(fixture.ran[0]?.input ?? "")).toMatchObject({
      tool_name: "Read",
      tool_result: expect.stringContaining("content"),
      tool_is_error: false,
    });
    expect(lastMessage(fixture)?.content[1]).toEqual({
      type: "text",
      text: "<post-tool-call-hook>\n2 problems\n</post-tool-call-hook>",
    });
  });

  it("is not run for a call that never ran", async () => {
    await using fixture = await hooked(
      {
        script: [
          {
            tool_calls: [
              { id: "c1", name: "Read", input: {} },
              { id: "c2", name: "Nope", input: {} },
              { id: "c3", name: "Read", input: { file_path: "a.txt" } },
            ],
          },
          { text: "ok" },
        ],
        hooks: { pre_tool_call: [{ command: "check" }], post_tool_call: [{ command: "after" }] },
      },
      { check: { exitCode: 1 } },
    );
    await send(fixture);
    expect(fixture.ran.map(({ command }) => command)).toEqual(["check"]);
  });
});

it("runs the hooks of a program's calls; what they say is read with its output", async () => {
  const codeCells = new FakeCodeCells();
  codeCells.programs.set("p", async (cell) => {
    await cell.call("Read", { file_path: "a.txt" });
    await cell.call("Glob", { pattern: "*" }).catch((why: unknown) => cell.text(String(why)));
  });
  await using fixture = await hooked(
    {
      script: [{ tool_calls: [{ id: "c1", name: "Code", input: { source: "p" } }] }, { text: "ok" }],
      hooks: {
        pre_tool_call: [
          { command: "note", matcher: "Read" },
          { command: "deny", matcher: "Glob" },
        ],
      },
      runtime: { codeCells },
    },
    { note: { stdout: "look out" }, deny: { stdout: "not here", exitCode: 1 } },
  );
  const events = await send(fixture);
  expect(fixture.ran.map(({ environment }) => environment["CRABCODE_HOOK_TOOL_USE_ID"])).toEqual([
    "c1/tool-1",
    "c1/tool-2",
  ]);
  const code = events.find(({ type, tool_use_id }) => type === "tool_result" && tool_use_id === "c1");
  expect(code?.["result"]).toContain("<pre-tool-call-hook>\nlook out\n</pre-tool-call-hook>");
  expect(code?.["result"]).toContain("Hook blocked tool call: not here");
});

it("runs the hooks of an agent's calls in the agent's name", async () => {
  await using fixture = await hooked(
    {
      script: [
        { ...read, agent: 1 },
        { agent: 1, text: "ok" },
      ],
      hooks: { pre_tool_call: [{ command: "look" }] },
    },
    { look: { exitCode: 1, stdout: "no" } },
  );
  const bus = await fixture.subscribe();
  const { agentId } = await fixture.runtime.spawnAgent({ session: { sessionId: "" }, prompt: "look" });
  await bus.find({ type: "agent_state", status: "completed" });
  expect(result(bus.events)).toMatchObject({ agent_id: agentId, result: "Hook blocked tool call: no" });
  expect(fixture.ran[0]?.environment).toMatchObject({ CRABCODE_HOOK_AGENT_ID: agentId });
  bus.leave();
});
