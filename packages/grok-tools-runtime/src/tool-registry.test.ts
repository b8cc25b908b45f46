import { describe, expect, it } from "vitest";
import { z } from "zod";
import { builtInTools } from "./catalogue/built-in-tools.ts";
import { echo, fail } from "./testing/sample-tools.ts";
import { defineTool, type Tool } from "./tool.ts";
import { defaultClientName, namespaceOf } from "./tool-id.ts";
import { createToolRegistry } from "./tool-registry.ts";

const withFields = (...names: string[]): Tool => ({
  ...echo,
  output: { ...echo.output, fields: names.map((name) => ({ name, description: "x", type: "string" })) },
});

describe("createToolRegistry", () => {
  it("finds tools by their exact id and the shell tool by its alias too", () => {
    const registry = createToolRegistry(builtInTools);
    expect(registry.find("GrokBuild:bash")?.tool.id).toBe("GrokBuild:run_terminal_cmd");
    expect(registry.find("grokbuild:bash")).toBeUndefined();
    expect(registry.find("constructor")).toBeUndefined();
    expect(registry.tools.map(({ tool }) => tool.id)).not.toContain("GrokBuild:bash");
  });

  it.each([
    ["two tools of one id", [echo, echo]],
    ["an id without a namespace", [{ ...echo, id: "echo" }]],
    ["an output field listed twice", [withFields("a", "a")]],
    [
      "params without a default",
      [{ ...echo, params: { stateKey: "x", schema: z.object({ needed: z.string() }) } }],
    ],
  ])("refuses %s at the start", (_what, tools) => {
    expect(() => createToolRegistry(tools)).toThrow(expect.objectContaining({ kind: "internal" }));
  });

  it("suggests ids that were probably meant", () => {
    const registry = createToolRegistry([echo, fail]);
    expect(registry.suggestIds("Sample:ehco")).toEqual(["Sample:echo"]);
    expect(registry.suggestIds("Other:fail")).toEqual(["Sample:fail"]);
    expect(registry.suggestIds("x".repeat(10_000))).toEqual([]);
  });
});

describe("defineTool", () => {
  it("gives a tool without params and rules what the runtime expects", () => {
    const tool = defineTool({
      id: "A:b",
      kind: "other",
      capabilities: { readOnly: true },
      description: "x",
      input: z.object({}),
      output: { schema: z.object({}), fields: [] },
      run: () => Promise.resolve({ output: { type: "Text" }, promptText: "" }),
    });
    expect(tool).toMatchObject({
      behaviorVersions: [],
      resources: [],
      truncation: { builtInMaxOutput: 40_000 },
    });
  });
});

describe("tool ids", () => {
  it.each([
    ["GrokBuild:grep", "GrokBuild", "grep"],
    ["ns:a:b", "ns", "a"],
    ["bare", "", "bare"],
    ["", "", ""],
  ])("%j has the namespace %j and the name %j", (id, namespace, name) => {
    expect([namespaceOf(id), defaultClientName(id)]).toEqual([namespace, name]);
  });
});
