import { Code, ConnectError } from "@connectrpc/connect";
import type { Tool } from "@trivium/grok-tools-runtime";
import { ErrorCode, FinalizeConfigValidationDetailsSchema } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { all, fail, headers, say, service, unavailable } from "./testing/sample-service.ts";

const toolName = "say";

const needsSearch = (params: unknown): boolean =>
  typeof params === "object" && params !== null && "loud" in params && params.loud === true;

describe("EnableTool and DisableTool", () => {
  it("switch a configured tool, and say whether anything changed", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    expect(await test.client.disableTool({ toolName })).toMatchObject({
      success: true,
      message: "say is disabled",
    });
    expect(await test.client.disableTool({ toolName })).toMatchObject({
      message: "say was disabled already",
    });
    const refused = await test.client.executeTool({ toolName, inputJson: "{" });
    expect(refused.result).toMatchObject({ case: "error", value: { code: ErrorCode.TOOL_DISABLED } });
    expect(await test.client.listTools({})).toMatchObject({
      totalCount: 2,
      enabledCount: 1,
      tools: [{ name: "fail" }],
    });
    await test.client.enableTool({ toolName: "Sample:say" });
    const { result } = await test.client.executeTool({ toolName, inputJson: '{"text":"a"}' });
    expect(result.case).toBe("success");
  });

  it("set a default before finalize", async () => {
    await using test = await service();
    await test.client.disableTool({ toolName: "Sample:say" });
    expect((await test.client.listTools({})).tools.map(({ name }) => name)).toEqual(["fail"]);
    const { tools } = await test.client.finalizeToolConfigRequest(all);
    expect(tools.map(({ enabled }) => enabled)).toEqual([false, true]);
  });

  it("cannot enable a tool whose backend is missing", async () => {
    await using test = await service([unavailable]);
    const answer = await test.client.enableTool({ toolName });
    expect(answer).toMatchObject({ success: false, message: expect.stringContaining("tools.webSearch") });
  });

  it("know only configured tools after finalize", async () => {
    await using test = await service();
    await expect(test.client.disableTool({ toolName: "nope" })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:fail" }] });
    await expect(test.client.disableTool({ toolName })).rejects.toMatchObject({ code: Code.NotFound });
  });
});

describe("SetToolOptions, GetToolOptions and ResetToolOptions", () => {
  const id = "Sample:say";

  it("set defaults for finalize, below the request's own", async () => {
    await using test = await service([say, fail]);
    const set = await test.client.setToolOptions({ toolName: id, optionsJson: '{"loud":true}' });
    expect(set).toMatchObject({ success: true, effectiveOptionsJson: '{"loud":true,"tone":"a"}' });
    expect(await test.client.getToolOptions({ toolName: id, includeSchema: true })).toMatchObject({
      defaultOptionsJson: '{"loud":false,"tone":"a"}',
      configuredOptionsJson: '{"loud":true}',
      optionsSchemaJson: expect.stringContaining("tone"),
    });
    const { tools } = await test.client.finalizeToolConfigRequest({
      tools: [{ id, paramsJson: '{"tone":"b"}' }],
    });
    expect(tools[0]?.currentOptionsJson).toBe('{"loud":true,"tone":"b"}');
  });

  it("change a finalized session from the next call on", async () => {
    await using test = await service([say, fail]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id, paramsJson: '{"tone":"b"}' }] });
    await test.client.setToolOptions({ toolName, optionsJson: '{"loud":true}' });
    const run = async () => {
      const { result } = await test.client.executeTool({ toolName, inputJson: '{"text":"a"}' });
      return result.case === "success" ? result.value.promptText : result.value;
    };
    expect(await run()).toBe("A");
    expect(await test.client.getToolOptions({ toolName })).toMatchObject({
      configuredOptionsJson: '{"tone":"b","loud":true}',
    });
    await test.client.resetToolOptions({ toolName, keysToReset: ["loud"] });
    expect(await run()).toBe("a");
    await test.client.setToolOptions({ toolName, optionsJson: '{"loud":true}', replace: true });
    const { stateJson } = await test.client.getToolState({});
    expect(JSON.parse(stateJson)).toMatchObject({ params: { "sample.Say": { loud: true, tone: "a" } } });
    const { effectiveOptionsJson } = await test.client.resetToolOptions({ toolName });
    expect(effectiveOptionsJson).toBe('{"loud":false,"tone":"a"}');
  });

  it("cannot leave a finalized toolset incomplete", async () => {
    const needy: Tool = {
      ...say,
      requires: ({ params, toolset }) =>
        needsSearch(params) && !toolset.hasKind("search") ? { message: "needs a search tool" } : undefined,
    };
    await using test = await service([needy, fail]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id }] });
    const error = ConnectError.from(
      await test.client
        .setToolOptions({ toolName, optionsJson: '{"loud":true}' })
        .catch((reason: unknown) => reason),
    );
    expect(error.findDetails(FinalizeConfigValidationDetailsSchema)[0]?.violations).toMatchObject([
      { toolId: id, category: "requirements" },
    ]);
    expect(await test.client.getToolOptions({ toolName })).toMatchObject({ configuredOptionsJson: "{}" });
  });

  it("are refused with violations, before they change anything", async () => {
    await using test = await service([say, fail]);
    const categoryOf = async (call: Promise<unknown>) => {
      const error = ConnectError.from(await call.catch((reason: unknown) => reason));
      expect(error.code).toBe(Code.InvalidArgument);
      return error.findDetails(FinalizeConfigValidationDetailsSchema)[0]?.violations[0]?.category;
    };
    const set = (optionsJson: string) => test.client.setToolOptions({ toolName: id, optionsJson });
    expect(await categoryOf(set('{"loud":1}'))).toBe("params_type");
    expect(await categoryOf(set('{"x":1}'))).toBe("params_unknown_field");
    expect(await categoryOf(set("{"))).toBeUndefined();
    expect(await categoryOf(set("[]"))).toBeUndefined();
    expect(await categoryOf(test.client.setToolOptions({ toolName: "fail", optionsJson: '{"a":1}' }))).toBe(
      "params_unknown_field",
    );
    await test.client.setToolOptions({ toolName: "fail", optionsJson: "{}" });
    expect(
      await categoryOf(test.client.resetToolOptions({ toolName: id, keysToReset: ["x"] })),
    ).toBeUndefined();
    expect(await test.client.getToolOptions({ toolName: id })).toMatchObject({ configuredOptionsJson: "{}" });
    expect(await test.client.getToolOptions({ toolName: "fail" })).toMatchObject({
      effectiveOptionsJson: "{}",
    });
  });
});

describe("SetToolOverride and ClearToolOverride", () => {
  it("name tools for entries that have no names of their own", async () => {
    await using test = await service([say, fail]);
    const names = { toolNameForModel: "talk", paramNameOverridesForModel: { text: "words" } };
    await test.client.setToolOverride({ toolName, ...names });
    await test.client.setToolOverride({ toolName: "fail", toolNameForModel: "break" });
    await test.client.clearToolOverride({ toolName: "fail" });
    const { tools } = await test.client.finalizeToolConfigRequest(all);
    expect(tools.map(({ name }) => name)).toEqual(["talk", "fail"]);
    expect(tools[0]?.inputSchemaJson).toContain('"words"');
    await expect(test.client.setToolOverride({ toolName: "talk" })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
    await expect(test.client.clearToolOverride({ toolName: "talk" })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
  });

  it("refuse what finalize would refuse", async () => {
    await using test = await service([say, fail]);
    for (const names of [{ toolNameForModel: "a b" }, { paramNameOverridesForModel: { nope: "x" } }]) {
      const call = test.client.setToolOverride({ toolName, ...names });
      await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  });
});

describe("reminders and truncation", () => {
  it("are off until they are switched on", async () => {
    await using test = await service([say, fail]);
    expect(await test.client.getSystemReminders({})).toMatchObject({ enabled: false });
    await test.client.finalizeToolConfigRequest(all);
    expect(await test.client.setSystemReminders({ enabled: true })).toMatchObject({
      success: true,
      enabled: true,
    });
    expect(await test.client.getSystemReminders({})).toMatchObject({ enabled: true });
  });

  it("are reported with defaults filled in, and replaced as a whole", async () => {
    await using test = await service([say, fail]);
    const defaults = { defaultMaxOutputBytes: 40_000, maxLinesRead: 1000, perToolMaxOutputBytes: {} };
    expect((await test.client.getTruncationConfig({})).config).toMatchObject(defaults);
    await test.client.setTruncationConfig({ config: { perToolMaxOutputBytes: { say: 5 }, maxLinesRead: 7 } });
    await test.client.finalizeToolConfigRequest(all);
    expect((await test.client.getTruncationConfig({})).config).toMatchObject({
      defaultMaxOutputBytes: 40_000,
      maxLinesRead: 7,
      perToolMaxOutputBytes: { say: 5 },
    });
    await expect(test.client.setTruncationConfig({})).rejects.toMatchObject({ code: Code.InvalidArgument });
    const tooMany = test.client.setTruncationConfig({ config: { maxLinesRead: 1_000_001 } });
    await expect(tooMany).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("the agent methods", () => {
  it("answer with empty values, in sessions that exist", async () => {
    await using test = await service();
    expect(await test.client.getSystemPrompt({ variant: "full" })).toMatchObject({
      systemPrompt: "",
      promptMode: "",
    });
    expect(await test.client.getAgentInfo({})).toMatchObject({ name: "", tools: [] });
    expect(await test.client.getCompletionState({})).toMatchObject({ hasRequirement: false });
    await test.client.resetCompletionState({});
    expect(await test.client.finalizeAgent({})).toMatchObject({ success: false, systemPrompt: "" });
    const call = test.client.getAgentInfo({}, headers({ "x-trivium-session": "x".repeat(129) }));
    await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});
