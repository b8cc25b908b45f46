import { describe, expect, it } from "vitest";
import { type FakeCell, FakeCodeCells, type FakeProgram } from "../testing/fake-code-cells.ts";
import { outline, type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

const run = (id: string, source: string, more: Record<string, unknown> = {}) => ({
  id,
  name: "Code",
  input: { source, ...more },
});
const wait = (id: string, cell_id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: "CodeWait",
  input: { cell_id, ...more },
});

async function open(options: {
  programs: Record<string, FakeProgram>;
  script: readonly ScriptEntry[];
  settings?: Record<string, unknown>;
  isDurable?: boolean;
}): Promise<RuntimeFixture & { cells: FakeCodeCells }> {
  const cells = new FakeCodeCells();
  for (const [name, program] of Object.entries(options.programs)) cells.programs.set(name, program);
  const { programs: _, ...rest } = options;
  const fixture = await RuntimeFixture.create({ ...rest, runtime: { codeCells: cells } });
  return Object.assign(fixture, { cells });
}

/** A program that goes on until it is ended, and says so when it has begun. */
function endless(): { program: FakeProgram; begun: Promise<FakeCell> } {
  const { promise: begun, resolve } = Promise.withResolvers<FakeCell>();
  const program: FakeProgram = (cell) => {
    resolve(cell);
    return new Promise((done) => cell.signal.addEventListener("abort", () => done()));
  };
  return { program, begun };
}

const resultOf = (events: readonly Payload[], id: string): unknown =>
  events.find(({ type, tool_use_id }) => type === "tool_result" && tool_use_id === id)?.["result"];

describe("a program that calls tools", () => {
  it("makes calls of the loop, which belong to the call that started it", async () => {
    await using fixture = await open({
      programs: {
        copy: async (cell) => {
          const { data, text } = (await cell.call("Read", { file_path: "a.txt" })) as {
            data: { text: string };
            text: string;
          };
          cell.text(text);
          const written = (await cell.call("Write", { file_path: "b.txt", content: data.text })) as {
            data: { is_new: boolean };
          };
          cell.text(String(written.data.is_new));
        },
      },
      script: [{ tool_calls: [run("c1", "copy")] }, { text: "copied" }],
    });
    fixture.file("a.txt", "hello\n");
    const reader = await fixture.send("copy");
    const asked = await reader.find({ type: "permission_request" });
    expect(asked).toMatchObject({
      tool_use_id: "c1/tool-2",
      permission_key: "Write",
      parent_tool_use_id: "c1",
      operation_scope: "foreground",
    });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1/tool-2", isAllowed: true });
    const events = await reader.all();
    expect(outline(events)).toEqual([
      "stream_mode:requesting",
      "stream_mode:tool-input",
      "tool_use:c1",
      "stream_mode:tool-running",
      "tool_use:c1/tool-1",
      "tool_result:c1/tool-1",
      "tool_use:c1/tool-2",
      "permission_request:c1/tool-2",
      "file_change",
      "tool_result:c1/tool-2",
      "tool_result:c1",
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:copied",
      "turn_complete:end_turn",
    ]);
    const nested = events.slice(4, 10);
    expect(nested.map(({ parent_tool_use_id }) => parent_tool_use_id)).toEqual(Array(6).fill("c1"));
    expect(events.filter((event) => "parent_tool_use_id" in event)).toEqual(nested);
    expect(resultOf(events, "c1")).toBe(
      "Script completed\nWall time 0.1 seconds\nOutput:\n     1|hello\ntrue",
    );
    expect(JSON.stringify(fixture.models.requests[1])).not.toContain("c1/tool-1");
    expect([...fixture.toolbox.files.values()]).toEqual(["hello\n", "hello\n"]);
  });

  it("hears of refusals, bad arguments and failures as texts, and each call has its one result", async () => {
    const texts: unknown[] = [];
    const attempt = async (cell: FakeCell, name: string, input?: unknown): Promise<void> => {
      await cell.call(name, input).catch((text: unknown) => texts.push(text));
    };
    await using fixture = await open({
      programs: {
        fail: async (cell) => {
          await attempt(cell, "Write", { file_path: "a", content: "x" });
          await attempt(cell, "Write", "no object");
          await attempt(cell, "Read");
          await attempt(cell, "Read", { file_path: "missing" });
          throw new Error("enough");
        },
      },
      script: [{ tool_calls: [run("c1", "fail")] }, { text: "ok" }],
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1/tool-1", isAllowed: false });
    const events = await reader.all();
    expect(texts).toEqual([
      expect.stringMatching(/^Permission denied/),
      expect.stringMatching(/^Validation error: the arguments are not a JSON object/),
      expect.stringMatching(/^Validation error: file_path/),
      "Error: file not found: missing",
    ]);
    const results = events.filter(({ type }) => type === "tool_result");
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual([
      "c1/tool-1",
      "c1/tool-2",
      "c1/tool-3",
      "c1/tool-4",
      "c1",
    ]);
    expect(results.at(-1)).toMatchObject({
      is_error: true,
      result: "Script failed\nWall time 0.1 seconds\nOutput:\nScript error:\nenough",
    });
    expect(events.filter(({ type }) => type === "permission_request")).toHaveLength(1);
  });

  it("asks one permission question at a time, in the order of the calls", async () => {
    await using fixture = await open({
      programs: {
        both: async (cell) => {
          const calls = ["a", "b"].map((file_path) => cell.call("Read", { file_path }));
          await Promise.allSettled(calls);
        },
      },
      script: [{ tool_calls: [run("c1", "both")] }, { text: "ok" }],
      settings: { permissions: { ask: [{ tool: "Read" }] } },
    });
    const bus = await fixture.subscribe();
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request", tool_use_id: "c1/tool-1" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1/tool-1", isAllowed: false });
    await reader.find({ type: "permission_request", tool_use_id: "c1/tool-2" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1/tool-2", isAllowed: false });
    await bus.find({ type: "turn_complete" });
    expect(outline(bus.events).filter((line) => line.startsWith("permission"))).toEqual([
      "permission_request:c1/tool-1",
      "permission_response:c1/tool-1",
      "permission_request:c1/tool-2",
      "permission_response:c1/tool-2",
    ]);
    bus.leave();
  });

  it("asks once for what is allowed from then on", async () => {
    await using fixture = await open({
      programs: {
        both: async (cell) => {
          await Promise.all(["a", "b"].map((file_path) => cell.call("Read", { file_path })));
        },
      },
      script: [{ tool_calls: [run("c1", "both")] }, { text: "ok" }],
      settings: { permissions: { ask: [{ tool: "Read" }] } },
    });
    for (const name of ["a", "b"]) fixture.file(name, "content");
    const reader = await fixture.send("x");
    await reader.find({ type: "tool_use", tool_use_id: "c1/tool-2" });
    await reader.find({ type: "permission_request", tool_use_id: "c1/tool-1" });
    const answer = { sessionId: "", toolUseId: "c1/tool-1", isAllowed: true, alwaysAllow: true };
    await fixture.runtime.respondPermission(answer);
    const lines = outline(await reader.all());
    expect(lines).not.toContain("permission_request:c1/tool-2");
    expect(lines).toContain("tool_result:c1/tool-2");
    expect(lines.at(-1)).toBe("turn_complete:end_turn");
  });

  it("heeds an answer that came before its question", async () => {
    await using fixture = await open({
      programs: {
        both: async (cell) => {
          await Promise.allSettled(["a", "b"].map((file_path) => cell.call("Read", { file_path })));
        },
      },
      script: [{ tool_calls: [run("c1", "both")] }, { text: "ok" }],
      settings: { permissions: { ask: [{ tool: "Read" }] } },
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "tool_use", tool_use_id: "c1/tool-2" });
    await reader.find({ type: "permission_request", tool_use_id: "c1/tool-1" });
    const { runtime } = fixture;
    await runtime.respondPermission({ sessionId: "", toolUseId: "c1/tool-2", isAllowed: false });
    const always = { sessionId: "", toolUseId: "c1/tool-1", isAllowed: true, alwaysAllow: true };
    await runtime.respondPermission(always);
    expect(resultOf(await reader.all(), "c1/tool-2")).toMatch(/^Permission denied by the user/);
  });

  it("asks for choices, and gets what was chosen", async () => {
    await using fixture = await open({
      programs: {
        choose: async (cell) => {
          const question = { question: "Which?", options: ["a", "b"] };
          const { text, data } = (await cell.call("AskUser", question)) as Record<string, unknown>;
          cell.text(`${String(text)} ${String(data)}`);
        },
      },
      script: [{ tool_calls: [run("c1", "choose", { yield_time_ms: 1000 })] }, { text: "ok" }],
    });
    const reader = await fixture.send("x");
    const asked = await reader.find({ type: "choice_request" });
    expect(asked).toMatchObject({ tool_use_id: "c1/tool-1", parent_tool_use_id: "c1" });
    await fixture.clock.advance(5000);
    await fixture.runtime.respondChoice({ sessionId: "", toolUseId: "c1/tool-1", selected: ["b"] });
    expect(resultOf(await reader.all(), "c1")).toMatch(/^Script completed[^]*b null$/);
  });

  it("runs calls that may not run side by side one by one, and the others beside them", async () => {
    await using fixture = await open({
      programs: {
        mixed: async (cell) => {
          await Promise.all([
            cell.call("Bash", { command: "first" }),
            cell.call("Bash", { command: "second" }),
            cell.call("Read", { file_path: "a.txt" }),
          ]);
        },
      },
      script: [{ tool_calls: [run("c1", "mixed")] }, { text: "ok" }],
      settings: { permissions: { run_everything: true } },
    });
    fixture.file("a.txt", "a\n");
    const release = Promise.withResolvers<object>();
    fixture.toolbox.onCommand = ({ command }) =>
      command === "first" ? release.promise : Promise.resolve({});
    const reader = await fixture.send("x");
    await reader.find({ type: "tool_result", tool_use_id: "c1/tool-3" });
    expect(fixture.toolbox.commands).toEqual(["first"]);
    release.resolve({});
    const events = await reader.all();
    expect(fixture.toolbox.commands).toEqual(["first", "second"]);
    expect(events.filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => tool_use_id)).toEqual(
      ["c1/tool-3", "c1/tool-1", "c1/tool-2", "c1"],
    );
  });

  it("may make so many calls and no more", async () => {
    await using fixture = await open({
      programs: {
        many: async (cell) => {
          for (const file_path of ["a", "b"]) await cell.call("Glob", { pattern: file_path });
          await cell.call("Glob", { pattern: "c" });
        },
      },
      script: [{ tool_calls: [run("c1", "many")] }, { text: "ok" }],
      settings: { code: { max_nested_calls: 2 } },
    });
    const events = await (await fixture.send("x")).all();
    expect(resultOf(events, "c1")).toContain("Script error:\nError: too many tool calls in one cell (2)");
    expect(events.filter(({ type }) => type === "tool_use")).toHaveLength(3);
  });

  it("leaves a call behind that it did not wait for: it is interrupted before the result", async () => {
    const started = Promise.withResolvers<AbortSignal>();
    await using fixture = await open({
      programs: {
        careless: async (cell) => {
          cell.call("Bash", { command: "sleep 99" }).catch(() => {});
          await started.promise;
        },
      },
      script: [{ tool_calls: [run("c1", "careless")] }, { text: "ok" }],
      settings: { permissions: { run_everything: true } },
    });
    // It does not stop when it should.
    fixture.toolbox.onCommand = ({ signal }) => {
      started.resolve(signal);
      return new Promise(() => {});
    };
    const reader = await fixture.send("x");
    const signal = await started.promise;
    while (!signal.aborted) await new Promise((resolve) => setImmediate(resolve));
    while (resultOf(reader.events, "c1") === undefined) await fixture.clock.advance(100);
    const events = await reader.all();
    expect(outline(events).slice(4, 7)).toEqual([
      "tool_use:c1/tool-1",
      "tool_result:c1/tool-1",
      "tool_result:c1",
    ]);
    expect(resultOf(events, "c1/tool-1")).toBe("Interrupted");
  });
});

describe("what a program sees", () => {
  const seen: string[] = [];
  const look: FakeProgram = async (cell) => {
    seen.splice(0, Infinity, ...cell.tools.map(({ name }) => name));
  };

  it("are the tools of the loop, without those for cells, modes and waiting agents", async () => {
    await using fixture = await open({
      programs: { look },
      script: [{ tool_calls: [run("c1", "look")] }, { text: "ok" }],
    });
    await (await fixture.send("x")).ended;
    const offered = fixture.models.requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(offered).toEqual(expect.arrayContaining(["Code", "CodeWait", "SwitchMode", "Agent"]));
    const hidden = new Set(["Code", "CodeWait", "SwitchMode", "Agent", "Checkpoint", "Revert"]);
    expect(seen).toEqual(offered.filter((name) => !hidden.has(name)));
    expect(fixture.cells.sessions[0]?.cells[0]?.tools[0]).toMatchObject({
      inputSchema: { type: "object" },
      outputSchema: { properties: { text: { type: "string" }, data: { type: ["object", "null"] } } },
    });
  });

  it("are only tools that read in plan mode", async () => {
    await using fixture = await open({
      programs: { look },
      script: [{ tool_calls: [run("c1", "look")] }, { text: "ok" }],
    });
    await fixture.runtime.switchMode("", "plan");
    await (await fixture.send("x")).ended;
    expect(seen).toEqual(expect.arrayContaining(["Read", "Grep"]));
    expect(seen).not.toContain("Write");
  });

  it("is nothing where programs are switched off", async () => {
    await using fixture = await open({
      programs: { look },
      script: [{ tool_calls: [run("c1", "look")] }, { text: "ok" }],
      settings: { code: { enabled: false } },
    });
    const events = await (await fixture.send("x")).all();
    expect(resultOf(events, "c1")).toBe("Error: unknown tool 'Code'");
    expect(fixture.models.requests[0]?.tools.map(({ name }) => name)).not.toContain("Code");
  });

  it("is a heap of the size that the settings allow", async () => {
    await using fixture = await open({
      programs: { look },
      script: [{ tool_calls: [run("c1", "look")] }, { text: "ok" }],
      settings: { code: { max_heap_mib: 100_000 } },
    });
    await (await fixture.send("x")).ended;
    expect(fixture.cells.sessions[0]?.heapBytes).toBe(256 * 1024 * 1024);
  });
});

describe("a program that takes long", () => {
  it("hands over what there is after its time, and the rest to CodeWait", async () => {
    const released = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    await using fixture = await open({
      programs: {
        slow: async (cell) => {
          cell.notify("half way");
          cell.text("first");
          begun.resolve();
          await released.promise;
          cell.text("last");
          cell.image("data:image/png;base64,AAAA");
        },
      },
      script: [
        { tool_calls: [run("c1", "slow", { yield_time_ms: 5000 })] },
        { tool_calls: [wait("c2", "1")], hold: "wait" },
        { tool_calls: [wait("c3", "1")] },
        { text: "ok" },
      ],
    });
    const reader = await fixture.send("x");
    await begun.promise;
    await fixture.clock.advance(5000);
    expect((await reader.find({ type: "tool_result", tool_use_id: "c1" }))["result"]).toBe(
      "Script running with cell ID 1\nWall time 0.1 seconds\nOutput:\n[notify] half way\nfirst",
    );
    released.resolve();
    fixture.models.release("wait");
    const events = await reader.all();
    expect(resultOf(events, "c2")).toBe(
      "Script completed\nWall time 0.1 seconds\nOutput:\nlast\n[image image/png 3 bytes]",
    );
    expect(resultOf(events, "c3")).toBe(
      "Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nexec cell 1 not found",
    );
  });

  it("does not hand over while one of its questions is open", async () => {
    await using fixture = await open({
      programs: {
        ask: async (cell) => {
          await cell.call("Write", { file_path: "a", content: "x" });
          await new Promise((done) => cell.signal.addEventListener("abort", done));
        },
      },
      script: [{ tool_calls: [run("c1", "ask", { yield_time_ms: 5000 })] }, { text: "ok" }],
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    await fixture.clock.advance(60_000);
    expect(resultOf(reader.events, "c1")).toBeUndefined();
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1/tool-1", isAllowed: true });
    await reader.find({ type: "tool_result", tool_use_id: "c1/tool-1" });
    // The answer lets the time go on where it stood, so this cannot be too early.
    while (resultOf(reader.events, "c1") === undefined) await fixture.clock.advance(1000);
    expect(resultOf(reader.events, "c1")).toMatch(/^Script running/);
    await reader.ended;
  });

  it("hands over at once when it or the model wants that", async () => {
    await using fixture = await open({
      programs: {
        yields: async (cell) => {
          cell.text("so far");
          cell.yieldControl();
          await new Promise((done) => cell.signal.addEventListener("abort", done));
        },
      },
      script: [
        { tool_calls: [run("c1", "yields")] },
        { tool_calls: [wait("c2", "1", { yield_time_ms: 0 })] },
        { tool_calls: [wait("c3", "1", { terminate: true })] },
        { text: "ok" },
      ],
    });
    const events = await (await fixture.send("x")).all();
    expect(resultOf(events, "c1")).toMatch(/^Script running with cell ID 1\n.*\nOutput:\nso far$/);
    expect(resultOf(events, "c2")).toMatch(/^Script running/);
    expect(resultOf(events, "c3")).toMatch(/^Script terminated/);
  });

  it.each([
    ["the options of its first line", {}, /^Script running/],
    ["the parameters before those", { yield_time_ms: 60_000 }, /^Script completed/],
  ])("goes by %s", async (_, parameters, result) => {
    const released = Promise.withResolvers<void>();
    await using fixture = await open({
      programs: { slow: () => released.promise },
      script: [{ tool_calls: [run("c1", "slow", parameters)] }, { text: "ok" }],
    });
    fixture.cells.readSource = (code) => ({ code, yieldTimeMs: 0 });
    const reader = await fixture.send("x");
    await reader.find({ type: "stream_mode", mode: "tool-running" });
    released.resolve();
    expect(resultOf(await reader.all(), "c1")).toMatch(result);
  });

  it("notifies so much and no more, whatever is in it", async () => {
    await using fixture = await open({
      programs: {
        loud: async (cell) => {
          for (let count = 0; count < 20_000; count += 1) cell.notify("");
        },
      },
      script: [{ tool_calls: [run("c1", "loud")] }, { text: "ok" }],
    });
    const result = String(resultOf(await (await fixture.send("x")).all(), "c1"));
    expect(result.length).toBeLessThan(70_000);
    expect(result).toMatch(/\[notify\] \(\d+ more left out\)$/);
  });

  it("is one of a few", async () => {
    await using fixture = await open({
      programs: { slow: endless().program },
      script: [
        { tool_calls: [run("c1", "slow", { yield_time_ms: 0 }), run("c2", "slow", { yield_time_ms: 0 })] },
        { text: "ok" },
      ],
      settings: { code: { max_live_cells: 1 } },
    });
    const events = await (await fixture.send("x")).all();
    expect(
      events.find(({ tool_use_id, type }) => type === "tool_result" && tool_use_id === "c2"),
    ).toMatchObject({
      is_error: true,
      result: "Error: too many live cells (1)",
    });
  });

  it("is ended after the longest time a program may take", async () => {
    const { program, begun } = endless();
    await using fixture = await open({
      programs: { slow: program },
      script: [
        { tool_calls: [run("c1", "slow", { yield_time_ms: 0 })] },
        { tool_calls: [wait("c2", "1")], hold: "later" },
        { text: "ok" },
      ],
      settings: { code: { max_cell_seconds: 20 } },
    });
    const reader = await fixture.send("x");
    const { signal } = await begun;
    await reader.find({ type: "tool_result" });
    await fixture.clock.advance(20_000);
    expect(signal.aborted).toBe(true);
    fixture.models.release("later");
    expect(resultOf(await reader.all(), "c2")).toContain("exec cell 1 not found");
  });

  it.each([
    [{ source: "" }, "there is no source"],
    [{ source: "x", yield_time_ms: 60_001 }, "yield_time_ms: must be 0 to 60000"],
    [{ source: "x", max_output_tokens: -1 }, "max_output_tokens: must be 0 to 25000"],
    [{ source: "x".repeat(1024 * 1024 + 1) }, "must not be larger than 1 MiB"],
  ])("is refused for arguments that cannot be used", async (input, problem) => {
    await using fixture = await open({
      programs: {},
      script: [{ tool_calls: [{ id: "c1", name: "Code", input }] }, { text: "ok" }],
    });
    const events = await (await fixture.send("x")).all();
    expect(resultOf(events, "c1")).toMatch(/^Validation error: /);
    expect(resultOf(events, "c1")).toContain(problem);
  });
});

describe("the end of programs", () => {
  it("comes with an interrupt: calls, then the program, then the turn", async () => {
    await using fixture = await open({
      programs: { ask: async (cell) => void (await cell.call("Write", { file_path: "a", content: "x" })) },
      script: [{ tool_calls: [run("c1", "ask")] }],
    });
    const bus = await fixture.subscribe();
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    await fixture.runtime.interruptTurn("");
    await reader.ended;
    await bus.find({ type: "turn_complete" });
    expect(outline(bus.events).slice(-4)).toEqual([
      "permission_response:c1/tool-1",
      "tool_result:c1/tool-1",
      "tool_result:c1",
      "turn_complete:interrupted",
    ]);
    expect(resultOf(bus.events, "c1/tool-1")).toBe("Interrupted");
    expect(resultOf(bus.events, "c1")).toBe("Interrupted");
    bus.leave();
  });

  it("does not come with the end of a turn; later calls are in the background", async () => {
    const go = Promise.withResolvers<void>();
    await using fixture = await open({
      programs: {
        late: async (cell) => {
          await go.promise;
          await cell.call("Glob", { pattern: "*" });
        },
      },
      script: [{ tool_calls: [run("c1", "late", { yield_time_ms: 0 })] }, { text: "ok" }],
    });
    const bus = await fixture.subscribe();
    const events = await (await fixture.send("x")).all();
    await bus.find({ type: "turn_complete" });
    go.resolve();
    const result = await bus.find({ type: "tool_result", tool_use_id: "c1/tool-1" });
    expect(result).toMatchObject({
      operation_scope: "background",
      operation_id: events[0]?.["operation_id"],
      parent_tool_use_id: "c1",
      is_error: false,
    });
    bus.leave();
  });

  it.each([
    ["an interrupt of a later turn", "interrupt"],
    ["an interrupt before the turn has begun", "hook"],
    ["a switch of the mode", "switch"],
    ["the end of the session", "close"],
  ])("comes with %s", async (_, how) => {
    const { program, begun } = endless();
    await using fixture = await open({
      programs: { slow: program },
      script: [
        { tool_calls: [run("c1", "slow", { yield_time_ms: 0 })] },
        { text: "ok" },
        { text: "never", hold: "never" },
      ],
      ...(how === "hook" && { settings: { hooks: { UserPromptSubmit: [{ command: "check" }] } } }),
    });
    const checking = Promise.withResolvers<void>();
    fixture.toolbox.onCommand = async ({ signal, input }) => {
      if (!String(input).includes("y")) return {};
      checking.resolve();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({})));
    };
    await (await fixture.send("x")).ended;
    const { signal } = await begun;
    expect(signal.aborted).toBe(false);
    if (how === "interrupt") {
      const reader = await fixture.send("y");
      await reader.find({ type: "stream_mode" });
      await fixture.runtime.interruptTurn("");
    } else if (how === "hook") {
      await fixture.send("y");
      await checking.promise;
      await fixture.runtime.interruptTurn("");
    } else if (how === "switch") await fixture.runtime.switchMode("", "plan");
    else await fixture.runtime.closeSession("");
    expect(signal.aborted).toBe(true);
    expect(fixture.cells.sessions[0]?.isDisposed).toBe(how === "close");
  });

  it("of a worker is said, and the next program begins anew", async () => {
    await using fixture = await open({
      programs: {
        die: async (cell) => cell.die(),
        live: async (cell) => cell.text("alive"),
      },
      script: [{ tool_calls: [run("c1", "die"), run("c2", "live")] }, { text: "ok" }],
    });
    const events = await (await fixture.send("x")).all();
    expect(
      events.find(({ tool_use_id, type }) => type === "tool_result" && tool_use_id === "c1"),
    ).toMatchObject({
      is_error: true,
      result: "Error: the code worker died; stored values are lost",
    });
    expect(resultOf(events, "c2")).toMatch(/^Script completed[^]*alive$/);
    expect(fixture.cells.sessions.map(({ isDisposed }) => isDisposed)).toEqual([true, false]);
  });

  it("of the server leaves a result for every call, and no question", async () => {
    await using fixture = await open({
      programs: {
        two: async (cell) => {
          cell.call("Bash", { command: "sleep" }).catch(() => {});
          await cell.call("Read", { file_path: "a" });
        },
      },
      script: [{ tool_calls: [run("c1", "two")] }],
      settings: { permissions: { ask: [{ tool: "Read" }], allow: [{ tool: "Bash" }] } },
      isDurable: true,
    });
    const started = Promise.withResolvers<void>();
    fixture.toolbox.onCommand = ({ signal }) => {
      started.resolve();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({})));
    };
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request", tool_use_id: "c1/tool-2" });
    await started.promise;
    const { seq } = await reader.find({ type: "permission_request" });
    await using copy = await fixture.afterCrash();
    const { sessionId } = await copy.runtime.listModels("");
    const { events } = await copy.runtime.subscribe({ session: { sessionId }, afterSeq: String(seq) });
    const seen: Payload[] = [];
    for await (const { payloadJson } of events) {
      seen.push(JSON.parse(payloadJson));
      if (seen.at(-1)?.type === "turn_complete") break;
    }
    expect(outline(seen).slice(1)).toEqual([
      "permission_response:c1/tool-2",
      "tool_result:c1/tool-1",
      "tool_result:c1/tool-2",
      "tool_result:c1",
      "turn_complete:interrupted",
    ]);
    expect(seen[1]).toMatchObject({ resolution: "cancelled", parent_tool_use_id: "c1" });
    expect(resultOf(seen, "c1/tool-1")).toMatch(/may have had an effect/);
    expect(resultOf(seen, "c1/tool-2")).toBe("Interrupted");
    expect(seen[2]).toMatchObject({ parent_tool_use_id: "c1" });
  });
});

describe("a program that went on after its turn", () => {
  it("leaves a result for every call when the server ends, and no question", async () => {
    await using fixture = await open({
      programs: {
        two: async (cell) => {
          cell.call("Bash", { command: "sleep" }).catch(() => {});
          await cell.call("Read", { file_path: "a" });
        },
      },
      script: [{ tool_calls: [run("c1", "two", { yield_time_ms: 0 })] }, { text: "ok" }],
      settings: { permissions: { ask: [{ tool: "Read" }], allow: [{ tool: "Bash" }] } },
      isDurable: true,
    });
    const started = Promise.withResolvers<void>();
    fixture.toolbox.onCommand = ({ signal }) => {
      started.resolve();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({})));
    };
    const bus = await fixture.subscribe();
    await (await fixture.send("x")).ended;
    await started.promise;
    await bus.find({ type: "permission_request", tool_use_id: "c1/tool-2" });
    const { seq } = await bus.find({ type: "turn_complete" });
    bus.leave();
    await using copy = await fixture.afterCrash();
    const { sessionId } = await copy.runtime.listModels("");
    const { events } = await copy.runtime.subscribe({ session: { sessionId }, afterSeq: String(seq) });
    const seen: Payload[] = [];
    const isEnd = ({ type, tool_use_id }: Payload): boolean =>
      type === "tool_result" && tool_use_id === "c1/tool-2";
    for await (const { payloadJson } of events) {
      seen.push(JSON.parse(payloadJson));
      if (isEnd(seen.at(-1) ?? { type: "" })) break;
    }
    const lines = outline(seen).filter((line) => !line.startsWith("permission_request"));
    expect(lines.slice(-3)).toEqual([
      "permission_response:c1/tool-2",
      "tool_result:c1/tool-1",
      "tool_result:c1/tool-2",
    ]);
    expect(seen.at(-1)).toMatchObject({ operation_scope: "background", parent_tool_use_id: "c1" });
    expect(resultOf(seen, "c1/tool-1")).toMatch(/may have had an effect/);
    const { questions } = await copy.runtime.questions.list({ sessionId });
    expect(questions).toEqual([]);
  });
});

describe("programs of agents", () => {
  it("call the tools of the agent and end with its run", async () => {
    const { program, begun } = endless();
    let seen: string[] = [];
    await using fixture = await open({
      programs: {
        look: async (cell) => {
          seen = cell.tools.map(({ name }) => name);
          await cell.call("Glob", { pattern: "*" });
        },
        slow: program,
      },
      script: [
        {
          agent: null,
          tool_calls: [{ id: "a1", name: "Agent", input: { prompt: "look", subagent_type: "explore" } }],
        },
        { agent: 1, tool_calls: [run("c1", "look"), run("c2", "slow", { yield_time_ms: 0 })] },
        { agent: 1, text: "found" },
        { agent: null, text: "ok" },
      ],
      settings: { permissions: { run_everything: true } },
    });
    const events = await (await fixture.send("x")).all();
    expect(seen).toEqual(expect.arrayContaining(["Read", "Glob"]));
    expect(seen).not.toContain("Write");
    const nested = events.filter(({ parent_tool_use_id }) => parent_tool_use_id === "c1");
    expect(nested.map(({ type }) => type)).toEqual(["tool_use", "agent_output", "tool_result"]);
    const agent_id = nested[0]?.["agent_id"];
    expect(agent_id).toEqual(expect.any(String));
    expect(nested.map((event) => event["agent_id"])).toEqual([agent_id, agent_id, agent_id]);
    expect((await begun).signal.aborted).toBe(true);
    expect(fixture.cells.sessions.map(({ isDisposed }) => isDisposed)).toEqual([true]);
  });
});
