import { create } from "@bufbuild/protobuf";
import { ToolInfoSchema } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { toolConfigEntryFromJson, toolConfigEntryToJson } from "./stored-tool-config.ts";
import { defaultClientName } from "./tool-config.ts";
import { toolMeta } from "./tool-meta.ts";

describe("defaultClientName", () => {
  it.each([
    ["GrokBuild:grep", "grep"],
    ["ns:a:b", "a"],
    ["bare", "bare"],
    ["", ""],
  ])("of %j is %j", (id, expected) => {
    expect(defaultClientName(id)).toBe(expected);
  });
});

describe("a stored configuration entry", () => {
  const full = {
    id: "GrokBuild:grep",
    params_json: '{"max_results":50}',
    name_override: "search",
    params_name_overrides: { pattern: "query" },
    behavior_version: "legacy-0.4.10",
    description_override: "Search the codebase",
  };

  it("survives a round trip", () => {
    expect(toolConfigEntryToJson(toolConfigEntryFromJson(full))).toEqual(full);
  });

  it("may leave everything but the id out, and is written with null", () => {
    const absent = {
      params_json: null,
      name_override: null,
      behavior_version: null,
      description_override: null,
    };
    const written = { id: "x", params_name_overrides: {}, ...absent };
    expect(toolConfigEntryToJson(toolConfigEntryFromJson({ id: "x" }))).toEqual(written);
    expect(toolConfigEntryToJson(toolConfigEntryFromJson({ id: "x", ...absent }))).toEqual(written);
  });

  it.each([
    [{ id: "x", params_name_overrides: null }],
    [{ id: "x", params_name_overrides: { a: 1 } }],
    [{ id: 1 }],
    [{ id: "x", name_override: 1 }],
    [[]],
  ])("refuses %j", (value) => {
    expect(() => toolConfigEntryFromJson(value)).toThrow(expect.objectContaining({ kind: "invalidInput" }));
  });
});

describe("toolMeta", () => {
  const tool = (kind: string) =>
    create(ToolInfoSchema, {
      name: "t",
      displayName: "Label",
      namespace: "GrokBuildConcise",
      capabilities: { isReadOnly: true, customCapabilities: ["scope:read", `kind:${kind}`] },
    });

  it.each([
    ["read", { target_file: "a", offset: 0, limit: 5 }, { path: "a", offset: 1, limit: 5 }],
    ["read", { target_file: "a", offset: -3 }, { path: "a" }],
    ["execute", { command: "ls", timeout: 3 }, { command: "ls" }],
    ["edit", { file_path: "a", old_string: "secret" }, { path: "a" }],
    ["list", { target_directory: "d" }, { directory: "d" }],
    ["search", { pattern: "x", path: null }, { pattern: "x" }],
    ["plan", { todos: [] }, undefined],
  ])("projects the input of the kind %s", (kind, input, expected) => {
    const meta = toolMeta(tool(kind), input)["x.ai/tool"];
    expect(meta).toMatchObject({
      version: 1,
      kind,
      namespace: "grok_build_concise",
      label: "Label",
      read_only: true,
    });
    expect(meta.input).toEqual(expected);
  });
});
