import { symlink } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { count, echo, fail, unavailable } from "../testing/sample-tools.ts";
import { testRuntime } from "../testing/test-runtime.ts";
import { defineTool, type Tool } from "../tool.ts";
import type { ParamsDefinition } from "../tool-params.ts";
import type { ToolConfig } from "./tool-config.ts";
import { FinalizeConfigError, type Violation } from "./violation.ts";

const lenientParams: ParamsDefinition<{ size: number | null }> = {
  stateKey: "sample.Lenient",
  strict: false,
  schema: z.object({ size: z.number().nullable().default(null) }),
};

const lenient: Tool = defineTool({
  id: "GrokBuildConcise:lenient",
  kind: "execute",
  capabilities: { readOnly: true },
  description: "${{ params.edit.gone }}Run. {max_wait_ms}",
  input: z.object({ wait: z.number().describe("At most {max_wait_ms}.") }),
  params: lenientParams,
  output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
  run: () => Promise.resolve({ output: { type: "Text" }, promptText: "" }),
});

/** Stands in for the shell tool, which has an alias. */
const shell: Tool = defineTool({
  id: "GrokBuild:run_terminal_cmd",
  kind: "execute",
  capabilities: { readOnly: false },
  description: "Runs.",
  input: z.object({}),
  params: lenientParams,
  output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
  run: () => Promise.resolve({ output: { type: "Text" }, promptText: "" }),
});

/** Has params within params. */
const bounded: Tool = defineTool({
  id: "Sample:bounded",
  kind: "list",
  capabilities: { readOnly: true },
  description: "Bounds.",
  input: z.object({}),
  params: {
    stateKey: "sample.Bounded",
    schema: z.object({
      bounds: z.object({ low: z.number().min(1), high: z.number() }).default({ low: 1, high: 2 }),
      names: z.array(z.string().min(1)).default([]),
    }),
  },
  output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
  run: () => Promise.resolve({ output: { type: "Text" }, promptText: "" }),
});

const empty = (id: string): Tool =>
  defineTool({
    id,
    kind: "read",
    capabilities: { readOnly: true },
    description: "Reads.",
    input: z.object({}),
    output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
    run: () => Promise.resolve({ output: { type: "Text" }, promptText: "" }),
  });

const tools = [
  echo,
  fail,
  count,
  unavailable,
  lenient,
  shell,
  bounded,
  empty("GrokBuild:grep"),
  empty("GrokBuildHashline:hashline_grep"),
  empty("Other:echo"),
];

async function violationsOf(config: Partial<ToolConfig>) {
  await using test = await testRuntime(tools);
  const session = test.runtime.sessions.session("s");
  const thrown: unknown = await session.finalize({ tools: [], ...config }).catch((reason: unknown) => reason);
  expect(session.status).toBe("open");
  if (!FinalizeConfigError.isInstance(thrown)) throw thrown;
  return thrown.violations;
}

const echoWith = (entry: object): Partial<ToolConfig> => ({ tools: [{ id: "Sample:echo", ...entry }] });

const boundedWith = (paramsJson: string): Partial<ToolConfig> => ({
  tools: [{ id: "Sample:bounded", paramsJson }],
});

/** Violations of the whole request, not of one of its tools. */
const globalCategories: ReadonlySet<string> = new Set([
  "behavior_preset",
  "file_toolset_conflict",
  "initial_state_parse",
  "initial_state_shape",
  "callback_addr",
  "truncation_invalid",
  "tools_limit",
]);

/** Violations of the later of two tools. */
const comparisons: ReadonlySet<string> = new Set([
  "params_conflict",
  "duplicate_tool_id",
  "duplicate_client_name",
]);

describe("a refused configuration", () => {
  it.each([
    [echoWith({ paramsJson: "" }), { category: "params_json_parse", fieldPath: "tools[0].params_json" }],
    [
      echoWith({ paramsJson: "[1]" }),
      { category: "params_type", fieldPath: "tools[0].params_json", expected: "object" },
    ],
    [
      echoWith({ paramsJson: '{"prefix":1}' }),
      { category: "params_type", fieldPath: "params.prefix", expected: "a string", badValueJson: "1" },
    ],
    [
      echoWith({ paramsJson: '{"mode":"c"}' }),
      { category: "params_unknown_variant", fieldPath: "params.mode" },
    ],
    [
      boundedWith('{"bounds":{"low":1}}'),
      { category: "params_missing_field", fieldPath: "params.bounds.high", expected: "a number" },
    ],
    [
      boundedWith('{"names":["a",""]}'),
      { category: "params_invalid", fieldPath: "params.names[1]", badValueJson: '""' },
    ],
    [
      boundedWith('{"bounds":{"low":0,"high":1}}'),
      { category: "params_invalid", fieldPath: "params.bounds.low", badValueJson: "0" },
    ],
    [echoWith({ paramsJson: '{"x":1}' }), { category: "params_unknown_field", fieldPath: "params.x" }],
    [
      echoWith({ paramsJson: '{"prefix":"!","mode":"b"}' }),
      { category: "params_constraint", fieldPath: "params.prefix", expected: "no !" },
    ],
    [
      { tools: [{ id: "Sample:fail", paramsJson: '{"x":1}' }] },
      { category: "params_unknown_field", fieldPath: "params.x" },
    ],
    [
      { tools: [{ id: "Sample:ecko" }] },
      { category: "tool_not_found", fieldPath: "id", expected: "Sample:echo" },
    ],
    [
      { tools: [{ id: "Third:echo" }] },
      { category: "tool_not_found", fieldPath: "id", expected: "Sample:echo, Other:echo" },
    ],
    [
      { behaviorPreset: "future" },
      { category: "behavior_preset", toolId: "(global)", fieldPath: "behavior_preset" },
    ],
    [echoWith({ behaviorVersion: "9" }), { category: "behavior_version", fieldPath: "behavior_version" }],
    [
      echoWith({ behaviorVersion: "older" }),
      { category: "behavior_version", fieldPath: "behavior_version", badValueJson: '"older"' },
    ],
    [
      { tools: [{ id: "Sample:fail", behaviorVersion: "" }] },
      { category: "behavior_version", fieldPath: "behavior_version" },
    ],
    [
      echoWith({ nameOverride: "" }),
      { category: "name_override_invalid", fieldPath: "tools[0].name_override" },
    ],
    [
      echoWith({ nameOverride: "a:b:c" }),
      { category: "name_override_invalid", fieldPath: "tools[0].name_override" },
    ],
    [
      echoWith({ nameOverride: "x".repeat(65) }),
      { category: "name_override_invalid", fieldPath: "tools[0].name_override" },
    ],
    [
      echoWith({ paramsNameOverrides: { nope: "a" } }),
      { category: "param_override_unknown", fieldPath: "tools[0].params_name_overrides.nope" },
    ],
    [
      echoWith({ paramsNameOverrides: { text: "times" } }),
      { category: "param_override_collision", fieldPath: "tools[0].params_name_overrides.text" },
    ],
    [
      echoWith({ paramsNameOverrides: { text: "a b" } }),
      { category: "param_override_invalid", fieldPath: "tools[0].params_name_overrides.text" },
    ],
    [
      { tools: [{ id: "Sample:echo" }, { id: "Other:echo" }] },
      {
        category: "duplicate_client_name",
        entryIndex: 1,
        fieldPath: "name_override",
        badValueJson: '"echo"',
      },
    ],
    [
      { tools: [{ id: "Sample:echo" }, { id: "Sample:echo", nameOverride: "e" }] },
      { category: "duplicate_tool_id", entryIndex: 1, fieldPath: "id" },
    ],
    [
      { tools: [{ id: "GrokBuild:bash" }, { id: "GrokBuild:run_terminal_cmd", nameOverride: "sh" }] },
      { category: "duplicate_tool_id", entryIndex: 1, fieldPath: "id" },
    ],
    [
      {
        tools: [
          { id: "GrokBuildConcise:lenient", paramsJson: '{"size":1}' },
          { id: "GrokBuild:run_terminal_cmd", paramsJson: '{"size":2}' },
        ],
      },
      { category: "params_conflict", entryIndex: 1, fieldPath: "params_json" },
    ],
    [
      { tools: [{ id: "GrokBuild:grep" }, { id: "GrokBuildHashline:hashline_grep" }] },
      { category: "file_toolset_conflict", toolId: "(file-toolset)", fieldPath: "tools" },
    ],
    [{ tools: [{ id: "Sample:count" }] }, { category: "requirements", fieldPath: "tools", entryIndex: 0 }],
    [
      { initialToolStateJson: "{" },
      { category: "initial_state_parse", fieldPath: "initial_tool_state_json" },
    ],
    [
      { initialToolStateJson: '{"params":[]}' },
      { category: "initial_state_shape", fieldPath: "initial_tool_state_json" },
    ],
    [{ clientCallbackAddr: "unix:/x" }, { category: "callback_addr", fieldPath: "client_callback_addr" }],
    [{ clientCallbackAddr: "localhost" }, { category: "callback_addr", fieldPath: "client_callback_addr" }],
    [
      { truncation: { maxLinesRead: 0 } },
      { category: "truncation_invalid", fieldPath: "truncation.max_lines_read", expected: "1..=1000000" },
    ],
    [
      { truncation: { perToolMaxOutputBytes: { echo: 16_777_217 } } },
      { category: "truncation_invalid", fieldPath: "truncation.per_tool_max_output_bytes.echo" },
    ],
    [
      { tools: Array.from({ length: 513 }, () => ({ id: "x" })) },
      { category: "tools_limit", fieldPath: "tools" },
    ],
  ] satisfies [Partial<ToolConfig>, Partial<Violation> & Pick<Violation, "category" | "fieldPath">][])(
    "%j says why",
    async (config, expected) => {
      const violations = await violationsOf(config);
      expect(violations).toHaveLength(1);
      expect(violations[0]).toMatchObject(expected);
      const { category } = expected;
      const ofEntry = comparisons.has(category) ? 1 : 0;
      expect(violations[0]?.entryIndex).toBe(globalCategories.has(category) ? undefined : ofEntry);
    },
  );

  it("lists all violations of the first phase that has any, and no later ones", async () => {
    const violations = await violationsOf({
      tools: [
        { id: "Nope:x" },
        { id: "Sample:echo", paramsJson: '{"x":1,"mode":2}' },
        { id: "Sample:count" },
      ],
    });
    expect(violations.map(({ entryIndex, category }) => [entryIndex, category])).toEqual([
      [0, "tool_not_found"],
      [1, "params_unknown_field"],
      [1, "params_type"],
    ]);
  });

  it.each(["api_key", "auth_token", "clientSecret", "PASSWORD", "authorization"])(
    "does not repeat the value of %s",
    async (key) => {
      const [violation] = await violationsOf(echoWith({ paramsJson: JSON.stringify({ [key]: "hunter2" }) }));
      expect(violation?.fieldPath).toBe(`params.${key}`);
      expect(JSON.stringify(violation)).not.toContain("hunter2");
    },
  );
});

describe("an accepted configuration", () => {
  it("renders descriptions and schemas with the names of this toolset", async () => {
    await using test = await testRuntime(tools);
    const { tools: cards } = await test.runtime.sessions.session("s").finalize({
      tools: [
        { id: "Sample:echo", nameOverride: "say", paramsNameOverrides: { text: "words" } },
        { id: "Sample:fail", nameOverride: "find", descriptionOverride: "Like ${{ tools.by_kind.read }}." },
      ],
      truncation: { defaultMaxOutputBytes: 77 },
    });
    expect(cards[0]).toMatchObject({
      name: "say",
      description: "Answers with `words`. At most 77 bytes.",
      shortDescription: "Answers with `words`.",
      displayName: "Read",
      contractVersion: "current",
      currentParams: { prefix: "", mode: "a" },
    });
    expect(cards[0]?.inputSchema).toMatchObject({
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: {
        words: { description: "What to say, see find." },
        times: { type: "integer", default: 1 },
        note: { type: ["string", "null"] },
      },
      required: ["words"],
    });
    expect(cards[1]?.description).toBe("Like say.");
  });

  it("reports what was ignored, could not be rendered or is unavailable", async () => {
    await using test = await testRuntime(tools);
    const report = await test.runtime.sessions.session("s").finalize({
      tools: [{ id: "GrokBuildConcise:lenient", paramsJson: '{"sise":1}' }, { id: "Sample:unavailable" }],
      truncation: { perToolMaxOutputBytes: { nope: 5 } },
      systemRemindersEnabled: true,
    });
    expect(report.warnings).toEqual([
      "ignored_param:sise",
      "template_render_failed:GrokBuildConcise:lenient",
      "unavailable:Sample:unavailable:web_search_provider",
      "truncation_unknown_tool:nope",
    ]);
    expect(report.tools[0]).toMatchObject({
      description: "Run. 600000 (~10 min)",
      inputSchema: { properties: { wait: { description: "At most 600000 (~10 min).", maximum: 600_000 } } },
    });
    expect(report.tools[1]?.capabilities.custom).toContain("requires:web_search_provider");
  });

  it("takes the alias of the shell tool by its own name", async () => {
    await using test = await testRuntime(tools);
    const { tools: cards } = await test.runtime.sessions
      .session("s")
      .finalize({ tools: [{ id: "GrokBuild:bash" }] });
    expect(cards[0]).toMatchObject({
      name: "bash",
      namespace: "GrokBuild",
      id: "GrokBuild:run_terminal_cmd",
    });
  });

  it("shares params between the tools of one state key", async () => {
    await using test = await testRuntime(tools);
    const { tools: cards } = await test.runtime.sessions.session("s").finalize({
      tools: [
        { id: "GrokBuildConcise:lenient" },
        { id: "GrokBuild:run_terminal_cmd", paramsJson: '{"size":2}' },
      ],
    });
    expect(cards.map(({ currentParams }) => currentParams)).toEqual([{ size: 2 }, { size: 2 }]);
  });

  it.each([
    [undefined, "current"],
    ["", "current"],
    ["legacy-0.4.10", "legacy-0.4.10"],
    ["release-0.1.157", "current"],
  ])("gives versions by the preset %j", async (behaviorPreset, expected) => {
    await using test = await testRuntime(tools);
    const report = await test.runtime.sessions.session("s").finalize({
      tools: [{ id: "Sample:echo" }, { id: "Sample:fail" }],
      behaviorPreset,
    });
    expect(report.tools.map(({ contractVersion }) => contractVersion)).toEqual([expected, ""]);
    expect(report.versionWarnings).toEqual([]);
  });

  it("warns of a deprecated version", async () => {
    await using test = await testRuntime(tools);
    const report = await test.runtime.sessions
      .session("s")
      .finalize({ tools: [{ id: "Sample:echo", behaviorVersion: "old" }] });
    expect(report.versionWarnings).toMatchObject([
      { toolId: "Sample:echo", deprecatedVersion: "old", replacement: "current" },
    ]);
  });

  it("works in the folder it was given, with links resolved", async () => {
    await using test = await testRuntime(tools);
    await symlink(test.workspace, `${test.workspace}/link`);
    const session = test.runtime.sessions.session("s");
    await session.finalize({ tools: [{ id: "Sample:echo" }] }, { cwd: "link" });
    const answer = await session.execute("echo", { text: "a" });
    expect(answer.result).toMatchObject({ ok: true, output: { where: test.workspace } });
  });

  it("can be given once", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session("s");
    const both = await Promise.allSettled([session.finalize({ tools: [] }), session.finalize({ tools: [] })]);
    expect(both).toMatchObject([{ status: "fulfilled" }, { reason: { kind: "failedPrecondition" } }]);
  });
});
