import { describe, expect, it } from "vitest";
import type { McpAnswer } from "../ports/mcp-port.ts";
import { FakeMcp, mcpTool, textAnswer } from "../testing/fake-mcp.ts";
import { outline, type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

async function open(
  mcp: FakeMcp,
  script: readonly ScriptEntry[],
  settings: Record<string, unknown> = {},
): Promise<RuntimeFixture> {
  return RuntimeFixture.create({
    script,
    settings: {
      mcp_servers: { gh: { command: "gh-mcp" }, docs: { command: "d", trusted: true } },
      ...settings,
    },
    runtime: { openMcp: mcp.open },
  });
}

const call = (id: string, name: string, input: Record<string, unknown> = {}) => ({
  tool_calls: [{ id, name, input }],
});

const resultOf = (events: readonly Payload[], id: string): unknown =>
  events.find(({ type, tool_use_id }) => type === "tool_result" && tool_use_id === id)?.["result"];

const offered = (fixture: RuntimeFixture, n: number): string[] =>
  (fixture.models.requests[n]?.tools ?? [])
    .map(({ name }) => name)
    .filter((name) => name.startsWith("mcp__"));

describe("the MCP servers of a session", () => {
  it("are started with its first turn, which has their tools", async () => {
    const mcp = new FakeMcp();
    const connected = Promise.withResolvers<void>();
    mcp.connected = connected.promise;
    await using fixture = await open(mcp, [
      call("c1", "mcp__gh__create_issue", { path: "x" }),
      { text: "ok" },
    ]);
    const { sessionId } = await fixture.runtime.listModels("");
    expect(mcp.opened.size).toBe(0);
    const reader = await fixture.send("x");
    while (mcp.startCount === 0) await new Promise((resolve) => setImmediate(resolve));
    mcp.tools = [mcpTool("gh", "create.issue"), mcpTool("gh", "create-issue", { description: "another" })];
    connected.resolve();
    const request = await reader.find({ type: "permission_request" });
    expect(request).toMatchObject({
      tool_name: "mcp__gh__create_issue",
      permission_key: "mcp__gh__create_issue",
    });
    await fixture.runtime.respondPermission({ sessionId, toolUseId: "c1", isAllowed: true });
    expect(resultOf(await reader.all(), "c1")).toBe("done");
    expect(mcp.calls).toEqual([{ name: "create.issue", input: { path: "x" } }]);
    expect(fixture.models.requests[0]?.tools.find(({ name }) => name.startsWith("mcp"))).toEqual({
      name: "mcp__gh__create_issue",
      description: "does create.issue",
      inputSchema: { type: "object", properties: { path: { type: "string" } } },
    });
    expect(mcp.opened.get(sessionId)).toMatchObject({ gh: { command: "gh-mcp", callTimeoutMs: 60_000 } });
    expect(mcp.startCount).toBe(1);
  });

  it("do not keep a turn that is interrupted while they start", async () => {
    const mcp = new FakeMcp();
    mcp.connected = new Promise(() => {});
    await using fixture = await open(mcp, [{ text: "never" }]);
    const reader = await fixture.send("x");
    while (mcp.startCount === 0) await new Promise((resolve) => setImmediate(resolve));
    await fixture.runtime.interruptTurn("");
    expect(outline(await reader.all()).at(-1)).toBe("turn_complete:interrupted");
    expect(fixture.models.requests).toHaveLength(0);
  });

  it("may change their tools between turns, not within one", async () => {
    const mcp = new FakeMcp();
    mcp.tools = [mcpTool("gh", "one")];
    await using fixture = await open(mcp, [call("c1", "mcp__gh__one"), { text: "ok" }, { text: "ok" }], {
      permissions: { run_everything: true },
    });
    mcp.answer = async () => {
      mcp.tools = [mcpTool("gh", "two")];
      return textAnswer("changed");
    };
    await (await fixture.send("x")).ended;
    await (await fixture.send("y")).ended;
    expect([0, 1, 2].map((n) => offered(fixture, n))).toEqual([
      ["mcp__gh__one"],
      ["mcp__gh__one"],
      ["mcp__gh__two"],
    ]);
  });

  it("are tried again by later turns when they have failed", async () => {
    const mcp = new FakeMcp();
    await using fixture = await open(mcp, [{ text: "ok" }, { text: "ok" }]);
    await (await fixture.send("x")).ended;
    expect(mcp.retries).toEqual([]);
    await (await fixture.send("y")).ended;
    expect(mcp.retries).toEqual([30_000]);
    expect(mcp.startCount).toBe(1);
  });

  it("end with it", async () => {
    const mcp = new FakeMcp();
    await using fixture = await open(mcp, [{ text: "ok" }]);
    await (await fixture.send("x")).ended;
    expect(mcp.disposeCount).toBe(0);
    await fixture.runtime.closeSession("");
    expect(mcp.disposeCount).toBe(1);
  });

  it("are none where none is configured", async () => {
    const mcp = new FakeMcp();
    await using fixture = await RuntimeFixture.create({
      script: [{ text: "ok" }],
      runtime: { openMcp: mcp.open },
    });
    await (await fixture.send("x")).ended;
    expect(mcp.opened.size).toBe(0);
  });
});

describe("the tools of MCP servers", () => {
  it("read only when a trusted server says so", async () => {
    const mcp = new FakeMcp();
    mcp.tools = ["gh", "docs"].map((server) => mcpTool(server, "look", { hints: { readOnly: true } }));
    await using fixture = await open(mcp, [call("c1", "mcp__docs__look"), { text: "ok" }]);
    await fixture.runtime.switchMode("", "plan");
    const events = await (await fixture.send("x")).all();
    expect(offered(fixture, 0)).toEqual(["mcp__docs__look"]);
    expect(outline(events)).not.toContain("permission_request:c1");
    expect(resultOf(events, "c1")).toBe("done");
  });

  it("have names of their own: none passes for a tool of another server", async () => {
    const mcp = new FakeMcp();
    mcp.tools = [mcpTool("a", "b__wipe"), mcpTool("a_b", "look"), mcpTool("a", "own")];
    await using fixture = await open(mcp, [{ text: "ok" }], {
      mcp_servers: { a: { command: "a" }, a__b: { command: "b" }, a_b: { command: "c" } },
    });
    await (await fixture.send("x")).ended;
    expect(offered(fixture, 0)).toEqual(["mcp__a_b__look", "mcp__a__own"]);
  });

  it("keep their names, so that a grant is for the tool it was given for", async () => {
    const mcp = new FakeMcp();
    mcp.tools = [mcpTool("my-gh", "push")];
    await using fixture = await open(
      mcp,
      [call("c1", "mcp__my_gh__push"), { text: "ok" }, call("c2", "mcp__my_gh__push"), { text: "ok" }],
      { mcp_servers: { "my-gh": { command: "a" }, "my gh": { command: "b" } } },
    );
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    const { sessionId } = await fixture.runtime.listModels("");
    await fixture.runtime.respondPermission({
      sessionId,
      toolUseId: "c1",
      isAllowed: true,
      alwaysAllow: true,
    });
    await reader.ended;
    mcp.tools = [mcpTool("my gh", "push")];
    const events = await (await fixture.send("y")).all();
    expect(resultOf(events, "c2")).toBe("Error: unknown tool 'mcp__my_gh__push'");
    expect(mcp.calls).toHaveLength(1);
  });

  it("are covered by rules", async () => {
    const mcp = new FakeMcp();
    mcp.tools = [mcpTool("gh", "push"), mcpTool("docs", "find")];
    await using fixture = await open(
      mcp,
      [call("c1", "mcp__gh__push"), call("c2", "mcp__docs__find"), { text: "ok" }],
      { permissions: { deny: [{ tool: "mcp__gh__*" }], allow: [{ tool: "mcp__docs__find" }] } },
    );
    const events = await (await fixture.send("x")).all();
    expect(resultOf(events, "c1")).toMatch(/^Permission denied/);
    expect(resultOf(events, "c2")).toBe("done");
    expect(mcp.calls).toHaveLength(1);
  });

  it("are not asked about with arguments that their schema refuses", async () => {
    const mcp = new FakeMcp();
    const inputSchema = {
      type: "object",
      properties: { path: { type: "string", format: "uri" }, count: { type: "integer" } },
      required: ["path"],
    };
    mcp.tools = [
      mcpTool("gh", "strict", { inputSchema }),
      // More than can be checked here: for the server to say.
      mcpTool("gh", "odd", { inputSchema: { type: "object", not: { required: ["path"] } } }),
    ];
    await using fixture = await open(
      mcp,
      [
        call("c1", "mcp__gh__strict", { count: 1 }),
        call("c2", "mcp__gh__strict", { path: "no uri", count: 1, other: true }),
        call("c3", "mcp__gh__odd", { path: 1 }),
        { text: "ok" },
      ],
      { permissions: { allow: [{ tool: "mcp__*" }] } },
    );
    const events = await (await fixture.send("x")).all();
    expect(resultOf(events, "c1")).toMatch(/^Validation error: path/);
    expect(mcp.calls.map(({ input }) => input)).toEqual([
      { path: "no uri", count: 1, other: true },
      { path: 1 },
    ]);
  });

  it.each<[string, McpAnswer, Record<string, unknown>]>([
    [
      "texts",
      {
        kind: "result",
        content: [
          { kind: "text", text: "a" },
          { kind: "image", mimeType: "image/png" },
          { kind: "text", text: "b" },
        ],
        structured: { a: 1 },
        isError: false,
      },
      { result: "a\n[image image/png left out]\nb", is_error: false },
    ],
    [
      "values only",
      { kind: "result", content: [], structured: { answer: 42 }, isError: false },
      { result: '{"answer":42}', is_error: false },
    ],
    [
      "a document",
      {
        kind: "result",
        content: [{ kind: "resource", value: { uri: "u" } }],
        structured: undefined,
        isError: true,
      },
      { result: '{"uri":"u"}', is_error: true },
    ],
    [
      "nothing",
      { kind: "result", content: [], structured: undefined, isError: false },
      { result: "(no output)", is_error: false },
    ],
    [
      "no answer",
      { kind: "failure", message: "no answer within 60000 ms" },
      { result: "Error: no answer within 60000 ms", is_error: true },
    ],
  ])("give %s as text", async (_, answer, expected) => {
    const mcp = new FakeMcp();
    mcp.tools = [mcpTool("gh", "any")];
    mcp.answer = async () => answer;
    await using fixture = await open(mcp, [call("c1", "mcp__gh__any"), { text: "ok" }], {
      permissions: { run_everything: true },
    });
    const events = await (await fixture.send("x")).all();
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject(expected);
  });

  it("are those of agents too, and their calls are cut like others", async () => {
    const mcp = new FakeMcp();
    mcp.tools = [mcpTool("gh", "slow")];
    const called = Promise.withResolvers<AbortSignal>();
    mcp.answer = (_tool, _input, signal) => {
      called.resolve(signal);
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cut")));
      });
    };
    await using fixture = await open(
      mcp,
      [
        { agent: null, ...call("a1", "Agent", { prompt: "go" }) },
        { agent: 1, ...call("c1", "mcp__gh__slow") },
      ],
      { permissions: { run_everything: true } },
    );
    const reader = await fixture.send("x");
    const signal = await called.promise;
    await fixture.runtime.interruptTurn("");
    expect(signal.aborted).toBe(true);
    expect(resultOf(await reader.all(), "c1")).toBe("Interrupted");
  });
});
