import { readFile } from "node:fs/promises";
import { HttpTestServer, testImage, testServerCommand } from "@trivium/mcp/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallOptions } from "../../../execute/call-options.ts";
import type { ToolAnswer } from "../../../execute/tool-answer.ts";
import { type McpTest, mcpTest } from "../../../mcp/testing/mcp-test.ts";
import { isRunning, readProcessStat } from "../../../process/supervisor/process-table.ts";
import type { ToolSession } from "../../../tool-session.ts";

let test: McpTest;
beforeAll(async () => {
  test = await mcpTest({
    servers: {
      test: { ...testServerCommand(), env: { OWN: "configured" }, toolTimeoutsMs: { slow: 200 } },
      patient: testServerCommand(),
      broken: { ...testServerCommand(), env: { MCP_TEST_START: "exit" } },
    },
    environment: { OPENAI_API_KEY: "secret", TRIVIUM_TOKEN: "secret", LANG: "C" },
  });
});
afterAll(async () => await test[Symbol.asyncDispose]());

type Input = string | null | Record<string, string | number>;

async function use(
  session: ToolSession,
  [name, input]: readonly [string, Input?],
  options: CallOptions = {},
): Promise<ToolAnswer["result"]> {
  return (await session.execute("use_tool", { tool_name: name, tool_input: input ?? {} }, options)).result;
}

const asOutput: CallOptions = { logicalErrors: "output" };

describe("GrokBuild:use_tool", { timeout: 30_000 }, () => {
  it("calls a tool and hands on its answer", async () => {
    await using session = await test.open();
    expect(await use(session, ["test__echo", { text: "hello" }])).toEqual({
      ok: true,
      output: {
        type: "MCP",
        tool_name: "test__echo",
        server_name: "test",
        output: { OkayOutput: "hello" },
      },
      promptText: "hello",
    });
  });

  it.each([
    ["JSON text", '{"text":"x"}', "x"],
    ["null", null, "undefined"],
    ["blank text", " ", "undefined"],
  ])("takes %s as the input", async (_form, input, answer) => {
    await using session = await test.open();
    const { result } = await session.execute("use_tool", { tool_name: "test__echo", tool_input: input });
    expect(result).toMatchObject({ ok: true, promptText: answer });
  });

  it.each([["[1]"], [7], ["{broken"], [[]]])("refuses %j as the input", async (input) => {
    await using session = await test.open();
    const { result } = await session.execute("use_tool", {
      tool_name: "test__echo",
      tool_input: input as never,
    });
    expect(result).toMatchObject({
      ok: false,
      error: { code: ErrorCode.INVALID_INPUT, details: { field: "tool_input" } },
    });
  });

  it("needs both parameters", async () => {
    await using session = await test.open();
    const { result } = await session.execute("use_tool", { tool_name: "test__echo" });
    expect(result).toMatchObject({ ok: false, error: { code: ErrorCode.MISSING_REQUIRED_FIELD } });
  });

  it("sends a model that names a tool of its own to that tool", async () => {
    await using session = await test.open();
    for (const name of ["search_tool", "Sample:echo", "echo"]) {
      const result = await use(session, [name]);
      expect(result).toMatchObject({ ok: false, error: { code: ErrorCode.INVALID_INPUT } });
      expect(result.ok ? "" : result.error.message).toContain("directly");
    }
    await using plain = await test.open({
      tools: [
        { id: "GrokBuild:use_tool", params: { native_tool_correction: false } },
        { id: "GrokBuild:search_tool", nameOverride: "find_tool" },
      ],
    });
    const result = await use(plain, ["find_tool"]);
    expect(result.ok ? "" : result.error.message).toContain("server__tool");
    expect(result.ok ? "" : result.error.suggestion).toContain("find_tool");
  });

  it.each(["a__b__c", "__x", "x__"])("refuses the name %s", async (name) => {
    await using session = await test.open();
    expect(await use(session, [name])).toMatchObject({
      ok: false,
      error: { code: ErrorCode.INVALID_INPUT, details: { field: "tool_name" } },
    });
  });

  it("says that there is no such tool, and which are like it", async () => {
    await using session = await test.open();
    expect(await use(session, ["test__ecko"])).toMatchObject({
      ok: false,
      error: { code: ErrorCode.TOOL_NOT_FOUND, suggestion: expect.stringContaining("test__echo") },
    });
    expect(await use(session, ["nobody__x"])).toMatchObject({
      ok: false,
      error: { code: ErrorCode.TOOL_NOT_FOUND, suggestion: expect.stringContaining("search_tool") },
    });
  });

  it("says why the server of a tool cannot be used", async () => {
    await using session = await test.open();
    const result = await use(session, ["broken__echo"]);
    expect(result).toMatchObject({
      ok: false,
      error: { code: ErrorCode.EXECUTION_FAILED, retryable: true },
    });
    expect(result.ok ? "" : result.error.message).toContain("exit code 7");
  });

  it("reports a tool's own error as a failure with its text, or as the variant", async () => {
    await using session = await test.open();
    const variant = {
      type: "MCP",
      tool_name: "test__fail",
      server_name: "test",
      output: { Error: "out of paper" },
      is_error: true,
    };
    expect(await use(session, ["test__fail", { message: "out of paper" }])).toMatchObject({
      ok: false,
      error: {
        code: ErrorCode.EXECUTION_FAILED,
        message: "out of paper",
        details: { kind: "logical", output: variant },
      },
    });
    expect(await use(session, ["test__fail", { message: "out of paper" }], asOutput)).toEqual({
      ok: true,
      output: variant,
      promptText: "out of paper",
    });
  });

  it("ends a call at its time", async () => {
    await using session = await test.open();
    expect(await use(session, ["test__slow"])).toMatchObject({
      ok: false,
      error: {
        code: ErrorCode.TIMEOUT,
        retryable: true,
        details: { output: { is_timeout: true, is_error: true } },
      },
    });
  });

  it("ends a cancelled call at once", async () => {
    await using session = await test.open();
    await use(session, ["patient__echo", { text: "ready" }]);
    const controller = new AbortController();
    const running = use(session, ["patient__slow"], { signal: controller.signal });
    controller.abort(new Error("nobody waits"));
    await expect(running).rejects.toThrow("nobody waits");
  });

  it("names pictures to the model and hands on their data", async () => {
    await using session = await test.open();
    const result = await use(session, ["test__image"]);
    expect(result).toMatchObject({ ok: true, promptText: "a red dot\n[image: image/png]" });
    expect(result.ok && result.output["output"]).toEqual({
      OkayOutput: `a red dot\n[image: image/png]\ndata:image/png;base64,${testImage}`,
    });
  });

  it.each([
    ["resource", '{"uri":"test://document","text":"content"}'],
    ["structured", '{"answer":42}'],
  ])("writes %s as JSON", async (name, promptText) => {
    await using session = await test.open();
    expect(await use(session, [`test__${name}`])).toMatchObject({ ok: true, promptText });
  });

  it("cuts a long answer and keeps all of it in a file", async () => {
    await using session = await test.open();
    const { result, metadata } = await session.execute(
      "use_tool",
      { tool_name: "test__huge", tool_input: { bytes: 30_000 } },
      { callId: "call/1" },
    );
    expect(metadata.isTruncated).toBe(true);
    const text = result.ok ? result.promptText : "";
    const [, shown, total, path = ""] =
      /truncated: the first (\d+) of (\d+) bytes; .* in (\S+)\]$/.exec(text) ?? [];
    expect([shown, total]).toEqual(["20000", "30000"]);
    expect(path).toMatch(/\/mcp\/call_1\.txt$/);
    expect(await readFile(path, "utf8")).toHaveLength(30_000);
    expect(text.length).toBeLessThan(20_500);
  });

  it("takes its limit from the toolset, else from the environment", async () => {
    await using limited = await test.open({ truncation: { perToolMaxOutputBytes: { use_tool: 100 } } });
    const result = await use(limited, ["test__huge", { bytes: 500 }]);
    expect(result.ok ? result.promptText : "").toContain("first 100 of 500 bytes");
    await using other = await mcpTest({ environment: { MAX_MCP_OUTPUT_BYTES: "200" } });
    await using session = await other.open();
    const byEnvironment = await use(session, ["test__huge", { bytes: 500 }]);
    expect(byEnvironment.ok ? byEnvironment.promptText : "").toContain("first 200 of 500 bytes");
  });

  it("says that the connection was made anew", async () => {
    await using session = await test.open();
    const crashed = await use(session, ["test__crash"]);
    expect(crashed).toMatchObject({
      ok: false,
      error: { code: ErrorCode.EXECUTION_FAILED, retryable: true },
    });
    expect(await use(session, ["test__echo", { text: "back" }])).toMatchObject({
      ok: true,
      output: { reconnect_attempted: true, output: { OkayOutput: "back" } },
    });
  });

  it("gives servers the environment of a command and what is configured, no keys", async () => {
    await using session = await test.open();
    const result = await use(session, ["test__variables"]);
    const names = result.ok ? result.promptText.split("\n") : [];
    expect(names).toEqual(expect.arrayContaining(["PATH", "HOME", "LANG", "OWN"]));
    expect(names.filter((name) => /OPENAI|^TRIVIUM_/.test(name))).toEqual([]);
  });

  it("ends servers with everything they have started when the session ends", async () => {
    const session = await test.open();
    const result = await use(session, ["test__start_child"]);
    const pid = Number(result.ok ? result.promptText : "");
    const stat = readProcessStat(pid);
    expect(stat).toBeDefined();
    await session.close();
    expect(isRunning({ pid, startTicks: stat?.startTicks ?? 0 })).toBe(false);
  });

  it("tells once what has changed about the servers", async () => {
    await using server = await HttpTestServer.start();
    await using web = await mcpTest({ servers: { web: { url: server.url } } });
    await using session = await web.open({ systemRemindersEnabled: true });
    const first = await use(session, ["web__echo", { text: "x" }]);
    expect(first.ok ? first.promptText : "").toMatch(
      /^x\n\n<system-reminder>\n.*search_tool\.\n- web: connected, 13 tools\n<\/system-reminder>$/s,
    );
    expect(await use(session, ["web__echo", { text: "x" }])).toMatchObject({ promptText: "x" });
    await use(session, ["web__add_tool", { name: "fresh" }]);
    for (;;) {
      const next = await use(session, ["web__echo", { text: "x" }]);
      if (next.ok && next.promptText.includes("web: updated, 14 tools")) break;
    }
  });
});
