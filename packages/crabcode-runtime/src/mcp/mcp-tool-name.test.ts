import { describe, expect, it } from "vitest";
import { mcpToolName } from "./mcp-tool-name.ts";

describe("the name of a tool of a server", () => {
  it("has an underscore for what providers do not take", () => {
    expect(mcpToolName("my-gh", "create.issue")).toBe("mcp__my_gh__create_issue");
    expect(mcpToolName("ümlaut 😀", "a__b")).toBe("mcp___mlaut____a__b");
  });

  it("is shortened with a part of its hash when it is long", () => {
    const long = mcpToolName("server", "t".repeat(80));
    expect(long).toMatch(/^mcp__server__t{42}_[0-9a-f]{8}$/);
    expect(long).toHaveLength(64);
    expect(mcpToolName("server", `${"t".repeat(79)}u`)).not.toBe(long);
    expect(mcpToolName("s", "t".repeat(56))).toHaveLength(64);
    expect(mcpToolName("s", "t".repeat(56))).not.toContain("_t_");
  });
});
