import type { McpTool } from "@trivium/mcp";
import { describe, expect, it } from "vitest";
import { ToolIndex } from "./tool-index.ts";

const tool = ([server, name]: [string, string], description = "", parameters: string[] = []): McpTool => ({
  server,
  name,
  description,
  inputSchema: { type: "object", properties: Object.fromEntries(parameters.map((key) => [key, {}])) },
  hints: { readOnly: false, idempotent: false },
});

const index = new ToolIndex([
  tool(["github", "createIssue"], "Opens a ticket in a repository.", ["title", "body"]),
  tool(["github", "list_issues"], "Lists tickets."),
  tool(["files", "read_file"], "Reads a file.", ["path", "maxLines"]),
  tool(["files", "issue"], "Says what the system is."),
]);

const find = (query: string, limit = 5): string[] =>
  index.find(query, limit).map(({ qualifiedName }) => qualifiedName);

describe("ToolIndex", () => {
  it("finds words in names however they are joined", () => {
    expect(find("create issue")[0]).toBe("github__createIssue");
    expect(find("read file")[0]).toBe("files__read_file");
  });

  it("finds words of descriptions and names of parameters", () => {
    expect(find("ticket")).toEqual(expect.arrayContaining(["github__createIssue", "github__list_issues"]));
    expect(find("max lines")).toEqual(["files__read_file"]);
  });

  it("finds the tools of a server by its name", () => {
    expect(find("github").sort()).toEqual(["github__createIssue", "github__list_issues"]);
  });

  it("puts the exact name first, with the highest score", () => {
    const found = index.find("files__issue", 5);
    expect(found[0]?.qualifiedName).toBe("files__issue");
    expect(found.slice(1).every(({ score }) => score < (found[0]?.score ?? 0))).toBe(true);
    expect(new Set(found.map(({ qualifiedName }) => qualifiedName)).size).toBe(found.length);
  });

  it("keeps to the limit", () => {
    expect(find("issue", 1)).toHaveLength(1);
    expect(find("issue", 0)).toEqual([]);
  });

  it("lists the first tools for a blank query and none for words that nobody uses", () => {
    expect(find("  ", 2)).toEqual(["github__createIssue", "github__list_issues"]);
    expect(find("zebra")).toEqual([]);
  });
});
