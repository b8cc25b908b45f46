import { describe, expect, it } from "vitest";
import { createToolRules, type ToolRules } from "./tool-rules.ts";

const none: ToolRules = { deny: [], ask: [], allow: [] };

function judge(
  rules: Partial<ToolRules>,
  input: Readonly<Record<string, string>>,
  { toolName = "read_file", isReadOnly = false, tool = { isReadOnly: true } } = {},
): Promise<string | undefined> {
  return createToolRules(
    { ...none, ...rules },
    { isReadOnly },
  )({
    callId: "c",
    signal: new AbortController().signal,
    kind: "other",
    toolName,
    isReadOnly: tool.isReadOnly,
    input,
    workingDirectory: "/ws",
    resolvePath: (path) => Promise.resolve(path === "link" ? "/etc/target" : `/ws/${path}`),
  });
}

describe("rules for calls of programs", () => {
  it("allow what no rule names", async () => {
    expect(await judge({}, { target_file: "a" }, { tool: { isReadOnly: false } })).toBeUndefined();
  });

  it.each([
    ["the tool", { tool: "read_*" }, { target_file: "a" }],
    ["the relative path", { tool: "*", path: "secret/*" }, { target_file: "secret/a" }],
    ["the folder of list_dir", { tool: "*", path: "secret" }, { target_directory: "secret" }],
    ["where a link leads", { tool: "*", path: "/etc/*" }, { file_path: "link" }],
    ["the folder of the other list_dir", { tool: "*", path: "secret" }, { dir_path: "secret" }],
    ["the folder of a command", { tool: "*", path: "secret" }, { command: "ls", workdir: "secret" }],
    ["the folder of a task", { tool: "*", path: "secret" }, { prompt: "go", cwd: "secret" }],
    ["the script of a workflow", { tool: "*", path: "secret/*" }, { script_path: "secret/a.js" }],
    [
      "a path behind a harmless one",
      { tool: "*", path: "secret" },
      { target_file: "a", file_path: "secret" },
    ],
    [
      "a file of a patch",
      { tool: "*", path: "secret" },
      { patch: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: secret\n*** End Patch" },
    ],
    [
      "the new path of a file of a patch",
      { tool: "*", path: "secret" },
      { input: "*** Begin Patch\r\n*** Update File: a\r\n *** Move to: secret\r\n@@\r\n-x\r\n" },
    ],
    ["the absolute path", { tool: "*", path: "/ws/a" }, { filePath: "a" }],
    ["a part of the command", { tool: "*", command: "rm *" }, { command: "ls; rm -rf x" }],
  ])("deny by %s", async (_, rule, input) => {
    expect(await judge({ deny: [rule], allow: [{ tool: "*" }] }, input)).toMatch(/denies read_file/);
  });

  it("leave a call alone that has no such argument", async () => {
    expect(await judge({ deny: [{ tool: "*", path: "*" }] }, { query: "a" })).toBeUndefined();
  });

  it("deny what they would ask about, before an allow rule is looked at", async () => {
    const rules = { ask: [{ tool: "*", command: "git *" }], allow: [{ tool: "*" }] };
    expect(await judge(rules, { command: "git push" })).toMatch(/nobody to ask/);
    expect(await judge(rules, { command: "ls" })).toBeUndefined();
  });

  it("come after the wish to read only", async () => {
    const write = { isReadOnly: true, tool: { isReadOnly: false } };
    expect(await judge({}, {}, write)).toMatch(/change nothing/);
    expect(await judge({}, {}, { isReadOnly: true })).toBeUndefined();
  });
});
