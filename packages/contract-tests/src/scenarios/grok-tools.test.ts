import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  ErrorCode,
  FinalizeConfigValidationDetailsSchema,
  GrokToolsService,
  StreamDataKind,
} from "@trivium/proto/grok-tools";
import { expect } from "vitest";
import { readAll, statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

useServer();

const readOnlyTools = [{ id: "GrokBuild:read_file" }, { id: "GrokBuild:list_dir" }, { id: "GrokBuild:grep" }];

function client(transport: Transport, session: string) {
  return {
    client: createClient(GrokToolsService, transport),
    call: { headers: { "x-trivium-session": session } },
  };
}

verifies("list-tools:before-finalize", async ({ transport, uniqueName }) => {
  const { client: tools, call } = client(transport, uniqueName);
  const { tools: listed, totalCount } = await tools.listTools({}, call);
  const ids = listed.map(({ namespace, name }) => `${namespace}:${name}`);
  expect(ids).toEqual(
    expect.arrayContaining([
      "GrokBuild:read_file",
      "GrokBuild:search_replace",
      "GrokBuild:list_dir",
      "GrokBuild:grep",
      "GrokBuild:run_terminal_cmd",
      "GrokBuild:get_task_output",
      "GrokBuild:kill_task",
    ]),
  );
  // Tools whose backend is not configured are counted, and shown to those who ask for them.
  const all = await tools.listTools({ includeDisabled: true }, call);
  expect(totalCount).toBe(50);
  expect(all.tools).toHaveLength(totalCount);
  expect(ids).not.toContain("GrokBuild:image_gen");
});

verifies("execute-tool:before-finalize", async ({ transport, uniqueName }) => {
  const { client: tools, call } = client(transport, uniqueName);
  expect(await statusOf(tools.executeTool({ toolName: "read_file" }, call))).toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining("FinalizeToolConfigRequest"),
  });
});

verifies("finalize:violations", async ({ transport, uniqueName }) => {
  const { client: tools, call } = client(transport, uniqueName);
  const error = ConnectError.from(
    await statusOf(
      tools.finalizeToolConfigRequest(
        { tools: [{ id: "GrokBuild:grepp" }, { id: "GrokBuild:read_file", paramsJson: "{" }] },
        call,
      ),
    ),
  );
  expect(error.code).toBe(Code.InvalidArgument);
  const [details] = error.findDetails(FinalizeConfigValidationDetailsSchema);
  expect(details?.violations).toEqual([
    expect.objectContaining({
      entryIndex: 1,
      category: "params_json_parse",
      fieldPath: "tools[1].params_json",
    }),
  ]);
  const unknown = ConnectError.from(
    await statusOf(tools.finalizeToolConfigRequest({ tools: [{ id: "GrokBuild:grepp" }] }, call)),
  );
  expect(unknown.findDetails(FinalizeConfigValidationDetailsSchema)[0]?.violations).toEqual([
    expect.objectContaining({
      entryIndex: 0,
      toolId: "GrokBuild:grepp",
      category: "tool_not_found",
      expected: expect.stringContaining("GrokBuild:grep"),
    }),
  ]);
});

verifies("finalize:once", async ({ transport, uniqueName }) => {
  const { client: tools, call } = client(transport, uniqueName);
  await tools.finalizeToolConfigRequest({ tools: [{ id: "GrokBuild:list_dir" }] }, call);
  expect(await statusOf(tools.finalizeToolConfigRequest({ tools: readOnlyTools }, call))).toMatchObject({
    code: Code.FailedPrecondition,
  });
  expect((await tools.listTools({}, call)).tools.map(({ name }) => name)).toEqual(["list_dir"]);
});

verifies("execute-tool:unknown", async ({ transport, uniqueName }) => {
  const { client: tools, call } = client(transport, uniqueName);
  await tools.finalizeToolConfigRequest({ tools: readOnlyTools }, call);
  const { result, callId, metadata } = await tools.executeTool(
    { toolName: "list_dirr", callId: "mine" },
    call,
  );
  expect(callId).toBe("mine");
  expect(metadata).toBeDefined();
  expect(result).toMatchObject({
    case: "error",
    value: { code: ErrorCode.TOOL_NOT_FOUND, suggestion: expect.stringContaining("list_dir") },
  });
});

verifies("execute-tool-stream:chunks", async ({ transport, uniqueName }) => {
  const { client: tools, call } = client(transport, uniqueName);
  await tools.finalizeToolConfigRequest({ tools: readOnlyTools }, call);
  const request = {
    toolName: "list_dir",
    inputJson: JSON.stringify({ target_directory: "." }),
    callId: "stream-1",
  };
  const { result } = await tools.executeTool(request, call);
  if (result.case !== "success") throw new Error(JSON.stringify(result.value));
  const chunks = await readAll(
    tools.executeToolStream({ ...request, options: { streamChunkSize: 7 } }, call),
  );
  const last = chunks.pop();
  const texts = new Map<StreamDataKind, Buffer>();
  for (const { chunk } of chunks) {
    if (chunk.case !== "data") throw new Error(`unexpected ${chunk.case}`);
    const { kind, offset, data } = chunk.value;
    const before = texts.get(kind) ?? Buffer.alloc(0);
    expect(Number(offset)).toBe(before.byteLength);
    texts.set(kind, Buffer.concat([before, data]));
  }
  expect(texts.get(StreamDataKind.PROMPT_TEXT)?.toString()).toBe(result.value.promptText);
  expect(JSON.parse(texts.get(StreamDataKind.OUTPUT_JSON)?.toString() ?? "")).toEqual(
    JSON.parse(result.value.outputJson),
  );
  if (last?.chunk.case !== "finalResult") throw new Error(`unexpected ${last?.chunk.case}`);
  expect(last.chunk.value.error).toBeUndefined();
});

verifies("get-tool-state:shape", async ({ transport, uniqueName }) => {
  const { client: tools, call } = client(transport, uniqueName);
  await tools.finalizeToolConfigRequest({ tools: readOnlyTools }, call);
  const state: unknown = JSON.parse((await tools.getToolState({}, call)).stateJson);
  expect(state).toMatchObject({ params: expect.any(Object), state: expect.any(Object) });
});
