import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ErrorCode, GrokToolsService, StreamDataKind } from "@trivium/proto/grok-tools";
import { expect } from "vitest";
import { eventually, processesWith } from "../server/process-tree.ts";
import { statusOf } from "../take.ts";
import { type Scenario, useServer, verifies } from "../verifies.ts";

useServer();

/** A finalized session with a way to call its tools. */
async function open(
  { transport, uniqueName: session }: Pick<Scenario, "transport" | "uniqueName">,
  ids: readonly string[],
  paramsOfFirst?: string,
) {
  const client = createClient(GrokToolsService, transport);
  const headers = { "x-trivium-session": session };
  const tools = ids.map((id, index) => ({
    id,
    ...(index === 0 && paramsOfFirst !== undefined && { paramsJson: paramsOfFirst }),
  }));
  await client.finalizeToolConfigRequest({ tools }, { headers });
  const request = (toolName: string, input: object | string, options: object = {}) => ({
    toolName,
    inputJson: typeof input === "string" ? input : JSON.stringify(input),
    options,
  });
  const execute = async (...[tool, input, options]: Parameters<typeof request>) =>
    (await client.executeTool(request(tool, input, options), { headers })).result;
  const failure = async (...values: Parameters<typeof request>) => {
    const result = await execute(...values);
    if (result.case !== "error") throw new Error(`${values[0]} did not fail`);
    return [result.value.code, result.value.retryable];
  };
  const prompt = async (...values: Parameters<typeof request>): Promise<string> => {
    const result = await execute(...values);
    if (result.case !== "success") throw new Error(`${values[0]} failed`);
    return result.value.promptText;
  };
  return { client, headers, request, execute, failure, prompt };
}

const shell = ["run_terminal_cmd", "get_task_output", "kill_task"].map((name) => `GrokBuild:${name}`);

verifies("execute-tool:error-codes", async ({ transport, server, uniqueName }) => {
  const session = await open(
    { transport, uniqueName },
    [
      "GrokBuild:search_replace",
      "GrokBuild:read_file",
      "GrokBuild:list_dir",
      "GrokBuild:web_search",
      ...shell,
    ],
    '{"read_before_edit":"enforce"}',
  );
  const { failure, execute, client, headers } = session;
  const path = join(server.workspace, `${uniqueName}.txt`);
  await writeFile(path, "a\na\n");
  const edit = (old_string: string, file_path = path) =>
    failure("search_replace", { file_path, old_string, new_string: "b" });
  expect(await failure("read_file", "{")).toEqual([ErrorCode.INVALID_INPUT, false]);
  expect(await failure("read_file", {})).toEqual([ErrorCode.MISSING_REQUIRED_FIELD, false]);
  expect(await failure("", {})).toEqual([ErrorCode.INVALID_TOOL_NAME, false]);
  await client.disableTool({ toolName: "list_dir" }, { headers });
  expect(await failure("list_dir", { target_directory: "." })).toEqual([ErrorCode.TOOL_DISABLED, false]);
  expect(await failure("nope", {})).toEqual([ErrorCode.TOOL_NOT_FOUND, false]);
  expect(await failure("read_file", { target_file: `${path}.missing` })).toEqual([
    ErrorCode.FILE_NOT_FOUND,
    false,
  ]);
  expect(await edit("a\n")).toEqual([ErrorCode.FILE_NOT_READ, false]);
  await execute("read_file", { target_file: path });
  await writeFile(path, "a\na\nc\n");
  expect(await edit("a\n")).toEqual([ErrorCode.FILE_EXTERNALLY_MODIFIED, true]);
  await execute("read_file", { target_file: path });
  expect(await edit("")).toEqual([ErrorCode.FILE_ALREADY_EXISTS, false]);
  expect(await edit("a\n")).toEqual([ErrorCode.MULTIPLE_MATCHES, false]);
  expect(await edit("z\n")).toEqual([ErrorCode.NO_MATCHES, false]);
  const slow = { command: "sleep 5", description: "t", timeout: 60_000 };
  expect(await failure("run_terminal_cmd", slow, { timeoutMs: 50n })).toEqual([ErrorCode.TIMEOUT, true]);
  expect(await failure("web_search", { query: "trivium" })).toEqual([ErrorCode.NOT_IMPLEMENTED, false]);
});

verifies("execute-tool:working-directories", async ({ transport, server, uniqueName }) => {
  const { prompt } = await open({ transport, uniqueName }, shell);
  const names = Array.from({ length: 6 }, (_, index) => `${uniqueName}-${index}`);
  for (const name of names) await mkdir(join(server.workspace, name));
  const found = await Promise.all(
    names.map((workingDirectory) =>
      prompt(
        "run_terminal_cmd",
        { command: "sleep 0.1; basename $PWD", description: "t" },
        { workingDirectory },
      ),
    ),
  );
  expect(found).toEqual(names.map((name) => expect.stringContaining(name)));
});

verifies("execute-tool:client-abort", async ({ transport, uniqueName }) => {
  const { client, headers, request } = await open({ transport, uniqueName }, shell);
  // Digits of the name: no other test starts a process with this time.
  const mark = `sleep 4${uniqueName.replaceAll(/\D/g, "")}`;
  const controller = new AbortController();
  const command = `setsid ${mark} & (trap '' TERM; ${mark}) & ${mark}`;
  const call = client.executeTool(request("run_terminal_cmd", { command, description: "t" }), {
    headers,
    signal: controller.signal,
  });
  const ended = statusOf(call);
  expect(await eventually(() => processesWith(mark).length >= 3, 10_000)).toBe(true);
  controller.abort();
  expect(ConnectError.from(await ended).code).toBe(Code.Canceled);
  expect(await eventually(() => processesWith(mark).length === 0, 2_000)).toBe(true);
});

verifies("execute-tool-stream:sizes", async ({ transport, server, uniqueName }) => {
  const { client, headers, request, execute } = await open({ transport, uniqueName }, [
    "GrokBuild:read_file",
  ]);
  const path = join(server.workspace, `${uniqueName}.txt`);
  await writeFile(path, "é😀a".repeat(40));
  const result = await execute("read_file", { target_file: path });
  if (result.case !== "success") throw new Error("the file cannot be read");
  for (const streamChunkSize of [1, 2, 3, 1_048_576, 4_194_304]) {
    const texts = new Map<StreamDataKind, Buffer[]>();
    const strict = new TextDecoder("utf-8", { fatal: true });
    const input = { target_file: path };
    for await (const { chunk } of client.executeToolStream(request("read_file", input, { streamChunkSize }), {
      headers,
    })) {
      if (chunk.case !== "data") continue;
      const { kind, data } = chunk.value;
      expect(strict.decode(data).length).toBeGreaterThan(0);
      // One character may be longer than the slice.
      expect(data.length).toBeLessThanOrEqual(Math.max(4, streamChunkSize));
      texts.set(kind, [...(texts.get(kind) ?? []), Buffer.from(data)]);
    }
    const joined = (kind: StreamDataKind) => Buffer.concat(texts.get(kind) ?? []).toString();
    expect(joined(StreamDataKind.PROMPT_TEXT)).toBe(result.value.promptText);
    expect(joined(StreamDataKind.OUTPUT_JSON)).toBe(result.value.outputJson);
  }
  for (const streamChunkSize of [0, 4_194_305]) {
    const read = async () => {
      for await (const _ of client.executeToolStream(request("read_file", {}, { streamChunkSize }), {
        headers,
      }));
    };
    expect(await statusOf(read())).toMatchObject({ code: Code.InvalidArgument });
  }
});

verifies("get-tool-state:beside-calls", async ({ transport, uniqueName }) => {
  const { client, headers, execute } = await open({ transport, uniqueName }, ["GrokBuild:todo_write"]);
  const list = (round: number) =>
    ["a", "b", "c"].map((id) => ({ id, content: `${id} of round ${round}`, status: "pending" }));
  let isRunning = true;
  const writes = (async () => {
    for (let round = 0; round < 20; round++)
      await execute("todo_write", { merge: false, todos: list(round) });
    isRunning = false;
  })();
  while (isRunning) {
    const { stateJson } = await client.getToolState({}, { headers });
    const rounds = new Set([...stateJson.matchAll(/of round (\d+)/g)].map(([, round]) => round));
    expect(rounds.size).toBeLessThanOrEqual(1);
  }
  await writes;
  const { stateJson } = await client.getToolState({}, { headers });
  expect(stateJson).toContain("a of round 19");
});

verifies("request-metadata:switches", async ({ transport, uniqueName }) => {
  const { client, headers, request } = await open({ transport, uniqueName }, [
    ...shell,
    "GrokBuild:read_file",
  ]);
  const call = async (
    more: Record<string, string>,
    tool = "read_file",
    input: object = { target_file: "/gone" },
  ) => (await client.executeTool(request(tool, input), { headers: { ...headers, ...more } })).result;
  expect(await call({})).toMatchObject({ case: "error", value: { code: ErrorCode.FILE_NOT_FOUND } });
  expect(await call({ "x-trivium-logical-errors": "output" })).toMatchObject({
    case: "success",
    value: { outputJson: expect.stringContaining("FileNotFound") },
  });
  const echo = { command: "echo hi", description: "t" };
  expect(await call({}, "run_terminal_cmd", echo)).toMatchObject({
    value: { outputJson: expect.stringContaining('"output":[104,105') },
  });
  expect(await call({ "x-trivium-output": "text" }, "run_terminal_cmd", echo)).toMatchObject({
    value: { outputJson: expect.stringContaining('"output":"hi') },
  });
  expect(await call({ "x-trivium-unknown": "1" })).toMatchObject({ case: "error" });
  for (const wrong of [
    { "x-trivium-logical-errors": "both" },
    { "x-trivium-output": "hex" },
    { "x-trivium-session": "x".repeat(129) },
    { "idempotency-key": "x".repeat(129) },
  ]) {
    expect(await statusOf(call(wrong))).toMatchObject({ code: Code.InvalidArgument });
  }
  const once = { "idempotency-key": "once" };
  const stamp = { command: "date +%N", description: "t" };
  expect(await call(once, "run_terminal_cmd", stamp)).toEqual(await call(once, "run_terminal_cmd", stamp));
});
