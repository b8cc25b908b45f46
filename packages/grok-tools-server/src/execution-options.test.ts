import { mkdir } from "node:fs/promises";
import { Code } from "@connectrpc/connect";
import { builtInTools, defineTool, type Tool } from "@trivium/grok-tools-runtime";
import { ErrorCode, OutputFormat } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { headers, service, waitingTool } from "./testing/sample-service.ts";

/** Says where it works and whether it was sent to the background, in the two shapes outputs have. */
const report: Tool = defineTool({
  id: "Sample:report",
  kind: "read",
  capabilities: { readOnly: true, backgroundParameter: "later" },
  description: "Reports.",
  input: z.object({ later: z.boolean().default(false), as: z.enum(["flat", "variant"]).default("flat") }),
  output: {
    schema: z.object({ type: z.literal("Report") }),
    fields: [{ name: "text", description: "The text.", type: "string" }],
  },
  run({ later, as }, { workingDirectory }) {
    const facts = { text: "long text", text_concise: "text", later, where: workingDirectory };
    const output = { type: "Report", ...(as === "flat" ? facts : { Done: facts }) };
    return Promise.resolve({ output, promptText: "long text", concisePromptText: "text" });
  },
});

/** Has no background. */
const plain: Tool = defineTool({
  id: "Sample:plain",
  kind: "search",
  capabilities: { readOnly: true },
  description: "Does little.",
  input: z.object({ later: z.boolean().default(false) }),
  output: { schema: z.object({ type: z.literal("Plain") }), fields: [] },
  run: ({ later }) => Promise.resolve({ output: { type: "Plain", later }, promptText: "done" }),
});

const tools = { tools: [{ id: "Sample:report" }, { id: "Sample:plain" }] };

async function open() {
  const test = await service([report, plain]);
  await test.client.finalizeToolConfigRequest(tools);
  const run = async (options: object, input: object = {}, toolName = "report") => {
    const request = { toolName, inputJson: JSON.stringify(input), options };
    const { result } = await test.client.executeTool(request);
    if (result.case !== "success") return { code: result.value?.code };
    return { ...JSON.parse(result.value.outputJson), prompt: result.value.promptText };
  };
  return { run, client: test.client, [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() };
}

describe("timeout_ms", () => {
  it("ends the call with a failure that may be tried again", async () => {
    const { tool, started, ended } = waitingTool();
    await using test = await service([tool]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:wait" }] });
    const answer = test.client.executeTool({ toolName: "wait", options: { timeoutMs: 50n } });
    await started;
    await test.clock.advance(50);
    await ended;
    expect((await answer).result).toMatchObject({
      case: "error",
      value: { code: ErrorCode.TIMEOUT, retryable: true },
    });
  });

  it.each([0n, 36_000_001n])("is refused when it is %d", async (timeoutMs) => {
    await using test = await open();
    await expect(test.run({ timeoutMs })).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect(await test.run({ timeoutMs: 36_000_000n })).toMatchObject({ type: "Report" });
  });

  it("is not waited for when the deadline of the call comes first", async () => {
    const { tool, started, ended } = waitingTool();
    await using test = await service([tool]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:wait" }] });
    const deadline = new AbortController();
    const request = { toolName: "wait", options: { timeoutMs: 50n } };
    const answer = test.client.executeTool(request, { signal: deadline.signal });
    const refused = expect(answer).rejects.toMatchObject({ code: Code.Canceled });
    await started;
    deadline.abort();
    await ended;
    await refused;
  });
});

describe("background", () => {
  it("is for tools that have it, and for inputs that do not say", async () => {
    await using test = await open();
    expect(await test.run({ background: true })).toMatchObject({ later: true });
    expect(await test.run({ background: true }, { later: false })).toMatchObject({ later: false });
    expect(await test.run({ background: true }, {}, "plain")).toMatchObject({ later: false });
    expect(await test.run({})).toMatchObject({ later: false });
  });

  it("is refused by a shell that has none", async () => {
    await using test = await service(builtInTools);
    const shell = { id: "GrokBuild:run_terminal_cmd", paramsJson: '{"enabled_background":false}' };
    await test.client.finalizeToolConfigRequest({ tools: [shell] });
    const inputJson = '{"command":"true","description":"x"}';
    const request = { toolName: "run_terminal_cmd", inputJson, options: { background: true } };
    expect((await test.client.executeTool(request)).result).toMatchObject({
      value: { code: ErrorCode.INVALID_INPUT },
    });
  });
});

describe("output_format", () => {
  it("is concise when it says so, and the usual one for anything else", async () => {
    await using test = await open();
    expect(await test.run({ outputFormat: OutputFormat.CONCISE })).toMatchObject({
      text: "text",
      prompt: "text",
    });
    for (const outputFormat of [OutputFormat.DEFAULT, OutputFormat.UNSPECIFIED, 99]) {
      expect(await test.run({ outputFormat })).toMatchObject({ text: "long text", prompt: "long text" });
    }
  });
});

describe("working_directory", () => {
  it("holds for one call, beside others, relative to the folder of the session", async () => {
    await using test = await open();
    const { where: home } = await test.run({});
    await Promise.all(["one", "two"].map((name) => mkdir(`${home}/${name}`)));
    const both = await Promise.all([
      test.run({ workingDirectory: "one" }),
      test.run({ workingDirectory: `${home}/two` }),
      test.run({}),
    ]);
    expect(both.map(({ where }) => where)).toEqual([`${home}/one`, `${home}/two`, home]);
    expect(await test.run({ workingDirectory: "three" })).toEqual({ code: ErrorCode.INVALID_INPUT });
  });
});

describe("include_fields and exclude_fields", () => {
  it("choose keys of the output, or of its variant, and leave type and text alone", async () => {
    await using test = await open();
    const prompt = "long text";
    expect(await test.run({ includeFields: ["later", "nothing"] })).toEqual({
      type: "Report",
      later: false,
      prompt,
    });
    expect(await test.run({ includeFields: ["later", "text"], excludeFields: ["text", "type"] })).toEqual({
      type: "Report",
      later: false,
      prompt,
    });
    expect(await test.run({ includeFields: ["later"] }, { as: "variant" })).toEqual({
      type: "Report",
      Done: { later: false },
      prompt,
    });
  });
});

describe("stream_chunk_size", () => {
  it.each([0, 4_194_305])("of %d is refused before anything runs", async (streamChunkSize) => {
    const { tool } = waitingTool();
    await using test = await service([tool]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:wait" }] });
    const read = async () => {
      const request = { toolName: "wait", options: { streamChunkSize } };
      for await (const _ of test.client.executeToolStream(request, headers({})));
    };
    await expect(read()).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});
