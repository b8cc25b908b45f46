import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  ErrorCode,
  FinalizeConfigValidationDetailsSchema,
  type FinalizeToolServerConfigRequestSchema,
  GrokToolsService,
} from "@trivium/proto/grok-tools";
import { expect } from "vitest";
import { statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

useServer();

/** Finalizes and calls in one session. */
function sessionOf(transport: Transport, name: string) {
  const client = createClient(GrokToolsService, transport);
  const session = { "x-trivium-session": name };
  return {
    client,
    finalize: (
      request: MessageInitShape<typeof FinalizeToolServerConfigRequestSchema>,
      more: Record<string, string> = {},
    ) => client.finalizeToolConfigRequest(request, { headers: { ...session, ...more } }),
    call: async (toolName: string, input: object) => {
      const request = { toolName, inputJson: JSON.stringify(input) };
      return (await client.executeTool(request, { headers: session })).result;
    },
    list: () => client.listTools({ includeDisabled: true }, { headers: session }),
    info: (toolName: string) => client.getToolInfo({ toolName }, { headers: session }),
  };
}

const taskTools = [{ id: "GrokBuild:get_task_output" }, { id: "GrokBuild:kill_task" }];

verifies("finalize:bash-alias", async ({ transport, uniqueName }) => {
  const session = sessionOf(transport, uniqueName);
  const names = (await session.list()).tools.map(({ namespace, name }) => `${namespace}:${name}`);
  expect(names).not.toContain("GrokBuild:bash");
  const violationsOf = async (...ids: string[]) => {
    const tools = [...ids.map((id) => ({ id, nameOverride: `n_${id.length}` })), ...taskTools];
    const refused = ConnectError.from(await statusOf(session.finalize({ tools })));
    const [details] = refused.findDetails(FinalizeConfigValidationDetailsSchema);
    return details?.violations.map(({ category, entryIndex }) => [category, entryIndex]);
  };
  expect(await violationsOf("GrokBuild:bash", "GrokBuild:run_terminal_cmd")).toEqual([
    ["duplicate_tool_id", 1],
  ]);
  const withTwo = session.finalize({
    tools: [{ id: "GrokBuild:bash" }, { id: "OpenCode:bash" }, ...taskTools],
  });
  const [details] = ConnectError.from(await statusOf(withTwo)).findDetails(
    FinalizeConfigValidationDetailsSchema,
  );
  expect(details?.violations).toMatchObject([{ category: "duplicate_client_name", entryIndex: 1 }]);
  const { tools } = await session.finalize({ tools: [{ id: "GrokBuild:bash" }, ...taskTools] });
  expect(tools[0]).toMatchObject({ name: "bash", namespace: "GrokBuild" });
  expect((await session.info("GrokBuild:bash")).name).toBe("bash");
  expect(await session.call("bash", { command: "echo hi", description: "t" })).toMatchObject({
    case: "success",
    value: { promptText: "exit: 0\nhi\n" },
  });
  expect(await session.call("run_terminal_cmd", { command: "echo hi", description: "t" })).toMatchObject({
    value: { code: ErrorCode.TOOL_NOT_FOUND },
  });
});

verifies("search-replace:empty-old-string", async ({ transport, server, uniqueName }) => {
  const path = join(server.workspace, `${uniqueName}.txt`);
  const replaceAll = { file_path: path, old_string: "", new_string: "new" };
  const withParams = async (name: string, config: { paramsJson?: string; initial?: string }) => {
    const session = sessionOf(transport, `${uniqueName}-${name}`);
    const { paramsJson, initial } = config;
    await session.finalize({
      tools: [
        { id: "GrokBuild:search_replace", ...(paramsJson !== undefined && { paramsJson }) },
        { id: "GrokBuild:read_file" },
      ],
      ...(initial !== undefined && { initialToolStateJson: initial }),
    });
    await writeFile(path, "old\n");
    const result = await session.call("search_replace", replaceAll);
    return [result.case === "error" ? result.value.code : "done", await readFile(path, "utf8")];
  };
  const refused = [ErrorCode.FILE_ALREADY_EXISTS, "old\n"];
  expect(await withParams("default", {})).toEqual(refused);
  // The original library writes its default into every saved state.
  const params = { "grok_build.SearchReplace": { empty_old_string_does_not_override: false } };
  expect(await withParams("state", { initial: JSON.stringify({ params }) })).toEqual(refused);
  const asked = { paramsJson: '{"empty_old_string_does_not_override":false}' };
  expect(await withParams("asked", asked)).toEqual(["done", "new"]);
});

verifies("search-replace:line-endings", async ({ transport, server, uniqueName }) => {
  const session = sessionOf(transport, uniqueName);
  await session.finalize({ tools: [{ id: "GrokBuild:search_replace" }, { id: "GrokBuild:read_file" }] });
  const path = join(server.workspace, `${uniqueName}.txt`);
  const edited = async (before: string, old_string: string, new_string: string): Promise<string> => {
    await writeFile(path, before, "latin1");
    const result = await session.call("search_replace", { file_path: path, old_string, new_string });
    if (result.case !== "success") throw new Error(`the edit failed: ${result.value?.message}`);
    return await readFile(path, "latin1");
  };
  const mixed = "one\r\ntwo\r\nthree\nfour\rfive\xff\xfe six\r\n";
  expect(await edited(mixed, "two", "2\nTWO")).toBe("one\r\n2\r\nTWO\r\nthree\nfour\rfive\xff\xfe six\r\n");
  expect(await edited(mixed, "three\n", "3\n3\n")).toBe("one\r\ntwo\r\n3\n3\nfour\rfive\xff\xfe six\r\n");
  expect(await edited("a\nb\n", "b", "b\nc")).toBe("a\nb\nc\n");
});

verifies("request-metadata:folder", async ({ transport, server, uniqueName }) => {
  const session = sessionOf(transport, uniqueName);
  const folder = join(server.workspace, uniqueName);
  await mkdir(folder);
  await writeFile(join(folder, "here.txt"), "");
  const tools = [{ id: "GrokBuild:list_dir" }];
  for (const wrong of [`${folder}/gone`, `${folder}/here.txt`]) {
    expect(await statusOf(session.finalize({ tools }, { "x-trivium-cwd": wrong }))).toMatchObject({
      code: Code.InvalidArgument,
    });
  }
  await session.finalize({ tools }, { "x-trivium-cwd": uniqueName });
  expect(await session.call("list_dir", { target_directory: "." })).toMatchObject({
    case: "success",
    value: { promptText: expect.stringContaining("here.txt") },
  });
});
