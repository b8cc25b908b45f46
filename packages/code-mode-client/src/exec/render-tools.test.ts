import { describe, expect, it } from "vitest";
import { describeTool } from "./describe-tool.ts";
import { renderTools } from "./render-tools.ts";

const mcpSchema = (structured?: object) => ({
  type: "object",
  properties: {
    content: { type: "array", items: { type: "object" } },
    isError: { type: "boolean" },
    _meta: { type: "object" },
    ...(structured !== undefined && { structuredContent: structured }),
  },
});
const declared = (declaration: string) =>
  `exec tool declaration:\n\`\`\`ts\ndeclare const tools: { ${declaration}; };\n\`\`\``;

describe("the description of a nested tool", () => {
  it.each([
    [{ name: "a-b" }, declared("a_b(args: unknown): Promise<unknown>")],
    [
      { name: "patch", kind: "freeform", description: "Applies.", outputSchema: { type: "string" } },
      `Applies.\n\n${declared("patch(input: string): Promise<string>")}`,
    ],
    [{ name: "m", outputSchema: mcpSchema() }, declared("m(args: unknown): Promise<CallToolResult>")],
    [
      { name: "m", outputSchema: mcpSchema({ type: "number" }) },
      declared("m(args: unknown): Promise<CallToolResult<number>>"),
    ],
    [{ name: "m", outputSchema: mcpSchema({}) }, declared("m(args: unknown): Promise<CallToolResult>")],
  ] as const)("of %j declares how it is called", (tool, description) => {
    expect(describeTool(tool)).toBe(description);
  });
});

describe("the tools of code mode", () => {
  it("are exec, with the source as text, and wait", () => {
    const { exec, wait } = renderTools({ tools: [], yieldTimeMs: 1234 });
    expect(exec.name).toBe("exec");
    expect(exec.description).toContain("`yield_time_ms` (default 1234)");
    expect(exec.description).toContain("(default 10000)");
    expect(exec.description).not.toContain("###");
    expect(exec.grammar).toContain("@exec:");
    expect(wait.parameters).toMatchObject({
      properties: {
        cell_id: { type: "string" },
        yield_time_ms: { default: 10_000 },
        max_tokens: { default: 10_000 },
        terminate: { default: false },
      },
      required: ["cell_id"],
      additionalProperties: false,
    });
  });

  it.each([
    "text",
    "image",
    "audio",
    "generatedImage",
    "content",
    "store",
    "load",
    "notify",
    "as_settled",
    "stream_settled",
    "setTimeout",
    "clearTimeout",
    "yield_control",
    "exit",
    "ALL_TOOLS",
  ])("tell of the helper %s", (helper) => {
    expect(renderTools({ tools: [] }).exec.description).toMatch(new RegExp(`\`${helper}[(:]`));
  });

  it("say nothing of image detail where it is hidden", () => {
    expect(renderTools({ tools: [] }).exec.description).toContain("detail");
    expect(renderTools({ tools: [], hidesImageDetail: true }).exec.description).not.toContain("detail");
  });

  it("leave out nested tools named like them", () => {
    const { nestedTools } = renderTools({
      tools: [{ name: "exec" }, { name: "a", toolName: "wait", namespace: "functions" }, { name: "b" }],
      deferredTools: [{ name: "wait" }, { name: "c" }],
    });
    expect(nestedTools.map(({ name }) => name)).toEqual(["b", "c"]);
    expect(nestedTools[0]?.description).toContain("b(args: unknown)");
  });

  it("describe the nested tools where the model has no others, by namespace", () => {
    const tools = [
      { name: "first" },
      { name: "x.one", namespace: "x" },
      { name: "x.two", namespace: "x" },
      { name: "blank", namespace: "y" },
    ];
    const { exec } = renderTools({
      tools,
      deferredTools: [{ name: "late", outputSchema: mcpSchema() }],
      isOnlyMode: true,
      namespaceDescriptions: { x: "About x.", y: " " },
    });
    const sections = exec.description.split("\n\n");
    expect(
      sections.filter((section) => section.startsWith("#")).map((section) => section.split("\n")[0]),
    ).toEqual(["### `first`", "## x", "### `x_one` (`x.one`)", "### `x_two` (`x.two`)", "### `blank`"]);
    expect(exec.description).toContain("## x\nAbout x.\n\n### `x_one`");
    expect(exec.description.match(/Shared MCP Types:\n```ts/g)).toHaveLength(1);
    expect(exec.description).toContain("filtering `ALL_TOOLS`");
  });
});
