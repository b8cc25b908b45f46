import { Code, ConnectError } from "@connectrpc/connect";
import {
  ErrorCode,
  FinalizeConfigValidationDetailsSchema,
  OutputFormat,
  StreamDataKind,
  ToolCategory,
  type ToolStreamChunk,
} from "@trivium/proto/grok-tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { all, headers, say, service, waitingTool } from "./testing/sample-service.ts";

describe("GrokToolsService.FinalizeToolConfigRequest", () => {
  it("answers with the tools in order, schemas included", async () => {
    await using test = await service();
    const response = await test.client.finalizeToolConfigRequest({ ...all, behaviorPreset: "legacy-0.4.10" });
    expect(response).toMatchObject({ success: true, message: "2 tools configured", versionWarnings: [] });
    expect(response.callbackStatus).toBeUndefined();
    const [first] = response.tools;
    expect(first).toMatchObject({
      name: "say",
      displayName: "Read",
      namespace: "Sample",
      category: ToolCategory.FILE,
      description: "Says `text`.",
      contractVersion: "current",
      enabled: true,
      capabilities: {
        isReadOnly: true,
        hasSideEffects: false,
        customCapabilities: ["kind:read", "scope:read"],
      },
      defaultOptionsJson: '{"loud":false,"tone":"a"}',
      currentOptionsJson: '{"loud":false,"tone":"a"}',
      outputFormats: [{ defaultFields: ["text", "data"] }, { defaultFields: ["text"] }],
    });
    expect(JSON.parse(first?.inputSchemaJson ?? "")).toMatchObject({ type: "object", required: ["text"] });
    expect(JSON.parse(first?.optionsSchemaJson ?? "")).toMatchObject({
      properties: { loud: { default: false } },
    });
    expect(JSON.parse(first?.outputSchemaJson ?? "")).toMatchObject({
      properties: { type: { const: "Text" } },
    });
  });

  it("refuses with all violations as a detail of the status", async () => {
    await using test = await service();
    const config = { tools: [{ id: "Sample:say", paramsJson: '{"loud":1,"x":2}' }, { id: "Sample:nope" }] };
    const thrown: unknown = await test.client
      .finalizeToolConfigRequest(config)
      .catch((reason: unknown) => reason);
    const error = ConnectError.from(thrown);
    expect(error.code).toBe(Code.InvalidArgument);
    const [detail] = error.findDetails(FinalizeConfigValidationDetailsSchema);
    expect(detail?.violations).toMatchObject([
      { entryIndex: 0, category: "params_unknown_field", fieldPath: "params.x" },
      {
        entryIndex: 0,
        toolId: "Sample:say",
        category: "params_type",
        fieldPath: "params.loud",
        expected: "a boolean",
        badValueJson: "1",
      },
      { entryIndex: 1, category: "tool_not_found", fieldPath: "id" },
    ]);
    await test.client.finalizeToolConfigRequest(all);
  });

  it("keeps a refusal small enough for trailers, whatever the request says", async () => {
    await using test = await service();
    const tools = Array.from({ length: 300 }, (_, index) => ({ id: `${index}${"x".repeat(5000)}` }));
    const thrown: unknown = await test.client
      .finalizeToolConfigRequest({ tools })
      .catch((reason: unknown) => reason);
    const error = ConnectError.from(thrown);
    const [detail] = error.findDetails(FinalizeConfigValidationDetailsSchema);
    expect(detail?.violations.length).toBeGreaterThan(2);
    expect(JSON.stringify(detail?.violations).length).toBeLessThan(8192);
    expect(error.rawMessage.length).toBeLessThan(1000);
    const unknown = test.client.getToolInfo({ toolName: "x".repeat(100_000) });
    await expect(unknown).rejects.toMatchObject({ rawMessage: expect.stringMatching(/^.{1,400}$/) });
  });

  it("can be called once", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    await expect(test.client.finalizeToolConfigRequest(all)).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
  });

  it("says that no callback host is connected", async () => {
    await using test = await service();
    const { callbackStatus } = await test.client.finalizeToolConfigRequest({
      clientCallbackAddr: "127.0.0.1:9",
    });
    expect(callbackStatus).toMatchObject({
      connected: false,
      activeSurfaces: [],
      message: expect.any(String),
    });
  });

  it("takes the folder of the session from x-trivium-cwd", async () => {
    await using test = await service();
    const call = test.client.finalizeToolConfigRequest(all, headers({ "x-trivium-cwd": "nowhere" }));
    await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument });
    await test.client.finalizeToolConfigRequest(all, headers({ "x-trivium-cwd": "." }));
  });
});

describe("GrokToolsService sessions", () => {
  it("are chosen by x-trivium-session", async () => {
    await using test = await service();
    const named = headers({ "x-trivium-session": "one" });
    await test.client.finalizeToolConfigRequest(all, named);
    await expect(test.client.executeTool({ toolName: "say" })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("FinalizeToolConfigRequest"),
    });
    const { result } = await test.client.executeTool({ toolName: "say", inputJson: '{"text":"a"}' }, named);
    expect(result.case).toBe("success");
  });

  it("need an id of 1 to 128 characters", async () => {
    await using test = await service();
    const call = test.client.listTools({}, headers({ "x-trivium-session": "x".repeat(129) }));
    await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("answer UNAVAILABLE when they have expired and when the server ends", async () => {
    await using test = await service();
    const named = headers({ "x-trivium-session": "one" });
    await test.client.finalizeToolConfigRequest(all, named);
    await test.clock.advance(3_600_000);
    const expired = { code: Code.Unavailable, rawMessage: expect.stringContaining("expired") };
    await expect(test.client.listTools({}, named)).rejects.toMatchObject(expired);
    await test.runtime[Symbol.asyncDispose]();
    await expect(test.client.listTools({})).rejects.toMatchObject({ code: Code.Unavailable });
  });
});

describe("GrokToolsService.ListTools", () => {
  it("lists the registry before finalize, tools without their backend only on request", async () => {
    await using test = await service();
    const listed = await test.client.listTools({});
    expect(listed).toMatchObject({ totalCount: 3, enabledCount: 2 });
    expect(listed.tools.map(({ name, description }) => [name, description])).toEqual([
      ["say", "Says ``."],
      ["fail", "Fails."],
    ]);
    expect(listed.tools[0]).toMatchObject({ inputSchemaJson: "", outputSchemaJson: "", contractVersion: "" });
    expect(listed.tools[0]?.optionsSchemaJson).toBeUndefined();
    const { tools } = await test.client.listTools({ includeDisabled: true, includeSchemas: true });
    expect(tools[2]).toMatchObject({
      enabled: false,
      capabilities: { customCapabilities: expect.arrayContaining(["requires:web_search_provider"]) },
    });
    expect(tools[0]?.inputSchemaJson).not.toBe("");
  });

  it("lists what is configured afterwards, by category", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    expect(await test.client.listTools({})).toMatchObject({ totalCount: 2, enabledCount: 2 });
    const { tools } = await test.client.listTools({ category: ToolCategory.SEARCH });
    expect(tools.map(({ name }) => name)).toEqual(["fail"]);
  });
});

describe("GrokToolsService.GetToolInfo", () => {
  it("takes an id or an unambiguous name before finalize", async () => {
    await using test = await service();
    expect(await test.client.getToolInfo({ toolName: "Sample:say" })).toMatchObject({ name: "say" });
    expect(await test.client.getToolInfo({ toolName: "fail" })).toMatchObject({ namespace: "Sample" });
    await expect(test.client.getToolInfo({ toolName: "say" })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("Other:say, Sample:say"),
    });
    await expect(test.client.getToolInfo({ toolName: "x" })).rejects.toMatchObject({ code: Code.NotFound });
  });

  it("takes a client name or an id afterwards", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:say", nameOverride: "talk" }] });
    expect(await test.client.getToolInfo({ toolName: "talk" })).toMatchObject({ name: "talk" });
    expect(await test.client.getToolInfo({ toolName: "Sample:say" })).toMatchObject({ name: "talk" });
    await expect(test.client.getToolInfo({ toolName: "say" })).rejects.toMatchObject({ code: Code.NotFound });
  });
});

describe("GrokToolsService.ExecuteTool", () => {
  it("answers with the call id it made up, the result and the facts of the run", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const { callId, result, metadata } = await test.client.executeTool({
      toolName: "say",
      inputJson: '{"text":"héhé"}',
    });
    expect(callId).toMatch(/^00000000-0000-7000-/);
    expect(result).toMatchObject({ case: "success", value: { promptText: "héhé" } });
    expect(JSON.parse(result.case === "success" ? result.value.outputJson : "")).toEqual({
      type: "Text",
      text: "héhé",
      data: [...new TextEncoder().encode("héhé")],
    });
    expect(metadata).toMatchObject({ estimatedTokens: 1, truncated: false, contractVersion: "current" });
  });

  it("reports a failure of the tool inside the response", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const { callId, result, metadata } = await test.client.executeTool({ toolName: "fail", callId: "c" });
    expect(callId).toBe("c");
    expect(metadata).toMatchObject({ estimatedTokens: 1 });
    expect(result).toMatchObject({
      case: "error",
      value: {
        code: ErrorCode.FILE_NOT_FOUND,
        message: "gone",
        retryable: false,
        filePath: "/w/gone",
        lineNumber: 3,
        suggestion: "Look elsewhere.",
        detailsJson: '{"kind":"logical","output":{"type":"ReadFile","FileNotFound":"gone"}}',
      },
    });
  });

  it("refuses input that is nested too deeply", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const inputJson = `{"text":"a","more":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const { result } = await test.client.executeTool(
      { toolName: "say", inputJson },
      headers({ "idempotency-key": "k" }),
    );
    expect(result).toMatchObject({ case: "error", value: { code: ErrorCode.INVALID_INPUT } });
  });

  it("reports an unknown tool inside the response, not as a status", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const { result } = await test.client.executeTool({ toolName: "nope" });
    expect(result).toMatchObject({ case: "error", value: { code: ErrorCode.TOOL_NOT_FOUND } });
  });

  it("obeys the switches of the request metadata and refuses values they do not have", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const failed = await test.client.executeTool(
      { toolName: "fail" },
      headers({ "x-trivium-logical-errors": "output" }),
    );
    expect(failed.result).toMatchObject({ case: "success", value: { promptText: "gone" } });
    const text = await test.client.executeTool(
      { toolName: "say", inputJson: '{"text":"a"}' },
      headers({ "x-trivium-output": "text" }),
    );
    expect(text.result).toMatchObject({ value: { outputJson: '{"type":"Text","text":"a","data":"a"}' } });
    for (const name of ["x-trivium-output", "x-trivium-logical-errors"]) {
      const call = test.client.executeTool({ toolName: "say" }, headers({ [name]: "nope" }));
      await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
    await test.client.executeTool({ toolName: "say" }, headers({ "x-trivium-unknown": "1" }));
  });

  it("obeys the options of the request", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const run = async (options: object) => {
      const { result } = await test.client.executeTool({
        toolName: "say",
        inputJson: '{"text":"a"}',
        options,
      });
      return result.case === "success" ? JSON.parse(result.value.outputJson) : result;
    };
    expect(await run({ outputFormat: OutputFormat.CONCISE })).toEqual({ type: "Text", text: "a" });
    expect(await run({ includeFields: ["data"] })).toEqual({ type: "Text", data: [97] });
    expect(await run({ excludeFields: ["data", "type"] })).toEqual({ type: "Text", text: "a" });
    expect(await run({ workingDirectory: "/nowhere" })).toMatchObject({
      value: { code: ErrorCode.INVALID_INPUT },
    });
    await expect(run({ timeoutMs: 0n })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(run({ timeoutMs: 2n ** 63n })).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("does not run a tool again for a repeated idempotency-key", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const request = { toolName: "say", inputJson: '{"text":"a"}' };
    const key = headers({ "idempotency-key": "k" });
    const first = await test.client.executeTool(request, key);
    expect(await test.client.executeTool(request, key)).toEqual(first);
    const chunks = await collect(test.client.executeToolStream(request, key));
    expect(chunks.at(-1)?.callId).toBe(first.callId);
    const other = test.client.executeTool({ toolName: "say", inputJson: '{"text":"b"}' }, key);
    await expect(other).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("points to the stream when a result does not fit into one message", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const request = { toolName: "say", inputJson: `{"text":"a","pad":${16 * 1024 * 1024}}` };
    const { result } = await test.client.executeTool(request);
    expect(result).toMatchObject({
      case: "error",
      value: { code: ErrorCode.EXECUTION_FAILED, suggestion: expect.stringContaining("ExecuteToolStream") },
    });
  });

  it("ends the tool when the caller cancels", async () => {
    const { tool, started, ended } = waitingTool();
    await using test = await service([tool]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:wait" }] });
    const controller = new AbortController();
    const call = test.client.executeTool({ toolName: "wait" }, { signal: controller.signal });
    await started;
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: Code.Canceled });
    await ended;
    expect((await test.client.getToolState({})).stateJson).toBe('{"params":{},"state":{}}');
  });

  it("refuses the id of a call that still runs", async () => {
    const { tool, started } = waitingTool();
    await using test = await service([tool]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:wait" }] });
    const call = test.client.executeTool({ toolName: "wait", callId: "c" });
    await started;
    const second = test.client.executeTool({ toolName: "wait", callId: "c" });
    await expect(second).rejects.toMatchObject({ code: Code.AlreadyExists });
    await test.runtime[Symbol.asyncDispose]();
    expect((await call).result).toMatchObject({ case: "error", value: { code: ErrorCode.CANCELLED } });
  });
});

async function collect(stream: AsyncIterable<ToolStreamChunk>): Promise<ToolStreamChunk[]> {
  const chunks: ToolStreamChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function join(chunks: readonly ToolStreamChunk[], kind: StreamDataKind) {
  const slices = chunks.flatMap(({ chunk }) =>
    chunk.case === "data" && chunk.value.kind === kind ? [chunk.value] : [],
  );
  let size = 0;
  for (const { data, offset } of slices) {
    expect(data.length).toBeGreaterThan(0);
    expect(Number(offset)).toBe(size);
    size += data.length;
  }
  return { text: Buffer.concat(slices.map(({ data }) => data)).toString(), slices, size };
}

describe("GrokToolsService.ExecuteToolStream", () => {
  it.each([
    [3, ["hé", "llo"]],
    [2, ["h", "é", "ll", "o"]],
    [1, ["h", "é", "l", "l", "o"]],
  ])("cuts between characters with a chunk size of %i", async (streamChunkSize, expected) => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const request = { toolName: "say", inputJson: '{"text":"héllo"}', options: { streamChunkSize } };
    const { slices } = join(
      await collect(test.client.executeToolStream(request)),
      StreamDataKind.PROMPT_TEXT,
    );
    expect(slices.map(({ data }) => new TextDecoder().decode(data))).toEqual(expected);
  });

  it("joins to the unary answer, whatever the text and the chunk size", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const check = async (text: string, streamChunkSize: number): Promise<void> => {
      const request = { toolName: "say", inputJson: JSON.stringify({ text }), options: { streamChunkSize } };
      const { result } = await test.client.executeTool(request);
      const chunks = await collect(test.client.executeToolStream(request));
      const prompt = join(chunks, StreamDataKind.PROMPT_TEXT);
      const output = join(chunks, StreamDataKind.OUTPUT_JSON);
      expect(result).toMatchObject({
        case: "success",
        value: { promptText: prompt.text, outputJson: output.text },
      });
      const sizes = [...prompt.slices, ...output.slices].map(({ data }) => data.length);
      expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(Math.max(4, streamChunkSize));
      expect(new Set(chunks.map(({ callId }) => callId)).size).toBe(1);
      const final = chunks.at(-1)?.chunk;
      expect(final).toMatchObject({
        case: "finalResult",
        value: { promptTextSize: BigInt(prompt.size), outputJsonSize: BigInt(output.size) },
      });
      const kinds = chunks.flatMap(({ chunk }) => (chunk.case === "data" ? [chunk.value.kind] : []));
      expect(kinds).toEqual([...kinds].sort((left, right) => left - right));
    };
    const texts = fc.string({ unit: "grapheme", maxLength: 60 });
    await fc.assert(fc.asyncProperty(texts, fc.integer({ min: 1, max: 40 }), check));
  });

  it.each([1, 2, 3, 1_048_576, 4_194_304])("accepts the chunk size %i", async (streamChunkSize) => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const pad = streamChunkSize < 10 ? 0 : streamChunkSize;
    const request = {
      toolName: "say",
      inputJson: JSON.stringify({ text: "a", pad }),
      options: { streamChunkSize },
    };
    const { slices } = join(
      await collect(test.client.executeToolStream(request)),
      StreamDataKind.PROMPT_TEXT,
    );
    expect(slices.map(({ data }) => data.length)).toEqual(pad === 0 ? [1] : [streamChunkSize, 1]);
  });

  it.each([0, 4_194_305])("refuses the chunk size %i before the first message", async (streamChunkSize) => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const stream = test.client.executeToolStream({ toolName: "say", options: { streamChunkSize } });
    await expect(collect(stream)).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("ends with the error and no slices when the tool fails", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const chunks = await collect(test.client.executeToolStream({ toolName: "fail", callId: "c" }));
    expect(chunks).toMatchObject([
      {
        callId: "c",
        chunk: {
          case: "finalResult",
          value: { error: { code: ErrorCode.FILE_NOT_FOUND }, promptTextSize: 0n, outputJsonSize: 0n },
        },
      },
    ]);
  });

  it("sends no slice for an empty text", async () => {
    await using test = await service();
    await test.client.finalizeToolConfigRequest(all);
    const chunks = await collect(
      test.client.executeToolStream({ toolName: "say", inputJson: '{"text":""}' }),
    );
    expect(join(chunks, StreamDataKind.PROMPT_TEXT).slices).toEqual([]);
  });

  it("fails with a status before finalize", async () => {
    await using test = await service();
    const stream = collect(test.client.executeToolStream({ toolName: "say" }));
    await expect(stream).rejects.toMatchObject({ code: Code.FailedPrecondition });
  });
});

describe("GrokToolsService.GetToolState", () => {
  it("gives params and state", async () => {
    await using test = await service();
    await expect(test.client.getToolState({})).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await test.client.finalizeToolConfigRequest({
      tools: [{ id: "Sample:say", paramsJson: '{"loud":true}' }],
    });
    const { stateJson } = await test.client.getToolState({});
    expect(JSON.parse(stateJson)).toEqual({ params: { "sample.Say": { loud: true, tone: "a" } }, state: {} });
  });

  it("answers DEADLINE_EXCEEDED when calls do not end, and lets later calls go on", async () => {
    const { tool, started } = waitingTool();
    await using test = await service([tool, say]);
    await test.client.finalizeToolConfigRequest({ tools: [{ id: "Sample:wait" }, { id: "Sample:say" }] });
    const waiting = test.client.executeTool({ toolName: "wait" });
    await started;
    const state = test.client.getToolState({});
    const refused = expect(state).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    const queued = test.client.executeTool({ toolName: "say", inputJson: '{"text":"a"}' });
    await test.clock.advance(30_000);
    await refused;
    expect((await queued).result.case).toBe("success");
    await test.runtime[Symbol.asyncDispose]();
    await waiting;
  });
});
