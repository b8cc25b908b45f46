import type { McpTool } from "@trivium/mcp";
import { describe, expect, it } from "vitest";
import { byQualifiedName, parseQualifiedName } from "./tool-names.ts";

const tool = (server: string, name: string): McpTool => ({
  server,
  name,
  description: "",
  inputSchema: { type: "object" },
  hints: { readOnly: false, idempotent: false },
});

const namesOf = (...tools: McpTool[]): string[] => [...byQualifiedName(tools).keys()];

describe("qualified names", () => {
  it.each(["srv__x", "a-b__c_d", "_s__t"])("%s has two parts", (name) => {
    expect(parseQualifiedName(name)).toEqual({ server: name.split("__")[0], tool: name.split("__")[1] });
  });

  it.each(["x", "__x", "x__", "a__b__c", "1a__b", "a__b.c", "", `a__${"b".repeat(62)}`])(
    "%s is none",
    (name) => {
      expect(parseQualifiedName(name)).toBeUndefined();
    },
  );

  it("are made of the server's and the tool's name", () => {
    expect(namesOf(tool("git-hub", "create_issue"))).toEqual(["git-hub__create_issue"]);
  });

  it("have only characters a model may write, and one separator", () => {
    const names = namesOf(tool("s", "issue.create"), tool("s", "a__b"), tool("s", "_x_"), tool("s", "äöü"));
    expect(names).toEqual(["s__issue_create", "s__a_b", "s__x", "s__tool"]);
    for (const name of names) expect(parseQualifiedName(name)).toBeDefined();
  });

  it("stay apart when two tools would have the same, and are never too long", () => {
    const long = "x".repeat(100);
    const names = namesOf(tool("s", "a.b"), tool("s", "a b"), tool("s", long), tool("s", `${long}y`));
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(parseQualifiedName(name)).toBeDefined();
    expect(names[0]).toBe("s__a_b");
  });
});
