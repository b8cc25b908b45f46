import { testServerCommand } from "@trivium/mcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type McpTest, mcpTest } from "../../../mcp/testing/mcp-test.ts";
import type { ToolSession } from "../../../tool-session.ts";

interface Answer {
  readonly results: readonly {
    readonly server: string;
    readonly tools: readonly { readonly tool_name: string; readonly [key: string]: unknown }[];
  }[];
  readonly total_hidden_tools: number;
  readonly status: string;
  readonly note: string;
}

async function search(session: ToolSession, input: Record<string, string | number>): Promise<Answer> {
  const { result } = await session.execute("search_tool", input);
  if (!result.ok) throw new Error(result.error.message);
  return JSON.parse(result.promptText) as Answer;
}

describe("GrokBuild:search_tool", { timeout: 30_000 }, () => {
  let test: McpTest;
  beforeAll(async () => {
    const broken = { ...testServerCommand(), env: { MCP_TEST_START: "exit" } };
    test = await mcpTest({ servers: { test: testServerCommand(), other: testServerCommand(), broken } });
  });
  afterAll(async () => await test[Symbol.asyncDispose]());

  it("groups hits by server, with all that is needed to call them", async () => {
    await using session = await test.open();
    const { result } = await session.execute("search_tool", { query: "answers with text it was given" });
    expect(result).toMatchObject({ ok: true, output: { type: "SearchTool", result_count: 5 } });
    const answer = await search(session, { query: "echo" });
    expect(answer.results.map(({ server }) => server).sort()).toEqual(["other", "test"]);
    const [group] = answer.results;
    expect(group?.tools[0]).toMatchObject({
      tool_name: `${group?.server}__echo`,
      description: "Answers with the text it was given.",
      input_schema: { type: "object", properties: { text: { type: "string" } } },
    });
    expect(group?.tools[0]?.["score"]).toBeGreaterThan(0);
  });

  it("says that a server is missing and why", async () => {
    await using session = await test.open();
    const answer = await search(session, { query: "echo" });
    expect(answer.status).toBe("partial");
    expect(answer.note).toMatch(/broken cannot be used: .*exit code 7/);
    expect(answer.total_hidden_tools).toBe(26);
  });

  it("keeps to the limit", async () => {
    await using session = await test.open();
    const answer = await search(session, { query: "echo", limit: "1" });
    expect(answer.results.flatMap(({ tools }) => tools)).toHaveLength(1);
    const { result } = await session.execute("search_tool", { query: "echo", limit: 256 });
    expect(result).toMatchObject({ ok: false, error: { details: { field: "limit" } } });
  });

  it("has a note when nothing fits", async () => {
    await using session = await test.open();
    const answer = await search(session, { query: "zebra" });
    expect(answer.results).toEqual([]);
    expect(answer.note).toContain("no tool fits");
  });

  it("answers with an empty list when no server is configured", async () => {
    await using empty = await mcpTest({ servers: {} });
    await using session = await empty.open();
    const { result } = await session.execute("search_tool", { query: "x" });
    expect(result).toMatchObject({ ok: true, output: { type: "Text" } });
    expect(await search(session, { query: "x" })).toEqual({
      results: [],
      total_hidden_tools: 0,
      status: "ready",
      note: "no MCP server is configured",
    });
  });
});
