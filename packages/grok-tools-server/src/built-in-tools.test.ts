import { realpath, writeFile } from "node:fs/promises";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { temporaryFolder } from "@trivium/core/testing";
import { builtInTools, createCommandRunner, createGrokToolsRuntime } from "@trivium/grok-tools-runtime";
import { ErrorCode, GrokToolsService } from "@trivium/proto/grok-tools";
import { errorInterceptor } from "@trivium/rpc";
import { describe, expect, it } from "vitest";
import { grokToolsService } from "./grok-tools-service.ts";

async function server() {
  const folder = await temporaryFolder();
  const runner = await createCommandRunner({ dataFolder: `${folder.path}/data` });
  const runtime = createGrokToolsRuntime({
    workspace: folder.path,
    dataDir: `${folder.path}/data`,
    commandRunner: runner,
    programRunner: runner.programs,
    environment: process.env,
  });
  const transport = createRouterTransport(grokToolsService({ runtime }), {
    router: { interceptors: [errorInterceptor] },
  });
  const client = createClient(GrokToolsService, transport);
  return {
    client,
    workspace: await realpath(folder.path),
    async call(toolName: string, input: object) {
      const { result } = await client.executeTool({ toolName, inputJson: JSON.stringify(input) });
      return result;
    },
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await runner[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const toolset = [
  "GrokBuild:run_terminal_cmd",
  "GrokBuild:read_file",
  "GrokBuild:search_replace",
  "GrokBuild:list_dir",
  "GrokBuild:grep",
  "GrokBuild:get_task_output",
  "GrokBuild:wait_tasks",
  "GrokBuild:kill_task",
];

/** What tools need besides a shell, files and task tools. */
const companions: Readonly<Record<string, readonly string[]>> = {
  "GrokBuild:enter_plan_mode": ["GrokBuild:exit_plan_mode"],
  "GrokBuild:exit_plan_mode": ["GrokBuild:enter_plan_mode"],
  "GrokBuild:scheduler_delete": ["GrokBuild:scheduler_create"],
  "GrokBuild:scheduler_list": ["GrokBuild:scheduler_create"],
};

describe("the built-in tools", () => {
  it("can all be configured, alone or with what they need", async () => {
    await using test = await server();
    for (const { id } of builtInTools) {
      const needed = [
        "GrokBuild:run_terminal_cmd",
        "GrokBuild:read_file",
        "GrokBuild:get_task_output",
        "GrokBuild:kill_task",
      ];
      const others = /Concise|Hashline|terminal_command/.test(id)
        ? needed.slice(0, 1).concat(needed.slice(2))
        : needed;
      const ids = [...new Set([id, ...others, ...(companions[id] ?? [])])];
      const named = ids.map((one, index) => ({ id: one, nameOverride: `tool_${index}` }));
      const { tools } = await test.client.finalizeToolConfigRequest(
        { tools: named },
        { headers: { "x-trivium-session": id } },
      );
      for (const tool of tools) {
        expect(tool.description).not.toMatch(/\$\{[{%#]|\{max_/);
        expect(JSON.parse(tool.inputSchemaJson)).toMatchObject({
          type: "object",
          properties: {},
          required: expect.any(Array),
        });
        expect(tool.outputFields.length).toBeGreaterThan(0);
      }
    }
  });

  it("work together through the service", async () => {
    await using test = await server();
    await writeFile(`${test.workspace}/a.txt`, "one\ntwo\n");
    await test.client.finalizeToolConfigRequest({ tools: toolset.map((id) => ({ id })) });
    const succeed = async (name: string, input: object): Promise<string> => {
      const result = await test.call(name, input);
      if (result.case !== "success") throw new Error(`${name}: ${JSON.stringify(result.value?.message)}`);
      return result.value.promptText;
    };
    expect(await succeed("read_file", { target_file: "a.txt" })).toContain("two");
    await succeed("search_replace", { file_path: "a.txt", old_string: "two", new_string: "three" });
    expect(await succeed("grep", { pattern: "thr.e" })).toContain("three");
    expect(await succeed("list_dir", { target_directory: "." })).toContain("a.txt");
    expect(await succeed("run_terminal_cmd", { command: "cat a.txt", description: "x" })).toBe(
      "exit: 0\none\nthree\n",
    );
    expect(await test.call("read_file", { target_file: "none" })).toMatchObject({
      case: "error",
      value: { code: ErrorCode.FILE_NOT_FOUND, filePath: `${test.workspace}/none` },
    });
  });

  it("start, show and end a background command", async () => {
    await using test = await server();
    await test.client.finalizeToolConfigRequest({ tools: toolset.map((id) => ({ id })) });
    const started = await test.call("run_terminal_cmd", {
      command: "echo up; sleep 60",
      description: "x",
      is_background: true,
    });
    const output = JSON.parse(started.case === "success" ? started.value.outputJson : "{}");
    expect(output).toMatchObject({ type: "BackgroundTaskStarted", task_id: expect.any(String) });
    expect(await test.call("kill_task", { task_id: output.task_id })).toMatchObject({ case: "success" });
    const shown = await test.call("get_task_output", { task_ids: [output.task_id] });
    expect(shown).toMatchObject({ value: { promptText: expect.stringContaining("cancelled") } });
  });
});
