import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { temporaryFolder } from "@trivium/core/testing";
import { GrokToolsService, StreamDataKind } from "@trivium/proto/grok-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendantsOf, eventually, processesWith } from "./server/process-tree.ts";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";
import { statusOf } from "./take.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const toolNames = [
  "read_file",
  "search_replace",
  "list_dir",
  "grep",
  "run_terminal_cmd",
  "get_task_output",
  "kill_task",
];

/** A clone of this repository that shares its installed packages. */
async function cloneRepository(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await temporaryFolder();
  const path = join(folder.path, "trivium");
  execFileSync("git", ["clone", "--quiet", "--shared", root, path]);
  symlinkSync(join(root, "node_modules"), join(path, "node_modules"));
  for (const name of readdirSync(join(path, "packages"))) {
    const modules = join(root, "packages", name, "node_modules");
    if (existsSync(modules)) symlinkSync(modules, join(path, "packages", name, "node_modules"));
  }
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe("an agent's work on a repository", () => {
  let server: ServerProcess;
  let repository: Awaited<ReturnType<typeof cloneRepository>>;

  beforeAll(async () => {
    repository = await cloneRepository();
    server = await startServerProcess({ workspace: repository.path });
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await repository[Symbol.asyncDispose]();
  });

  it("lists, searches, reads, edits, tests, and leaves nothing running", async () => {
    const tools = createClient(GrokToolsService, createGrpcTransport({ baseUrl: server.url }));
    const headers = { "x-trivium-output": "text" };
    const ownProcesses = new Set(descendantsOf(server.pid));
    const call = async (
      toolName: string,
      input: object,
    ): Promise<{ output: Record<string, unknown>; promptText: string }> => {
      const { result } = await tools.executeTool({ toolName, inputJson: JSON.stringify(input) }, { headers });
      if (result.case !== "success") throw new Error(`${toolName}: ${result.value?.message}`);
      return {
        output: JSON.parse(result.value.outputJson) as Record<string, unknown>,
        promptText: result.value.promptText,
      };
    };
    await tools.finalizeToolConfigRequest({ tools: toolNames.map((name) => ({ id: `GrokBuild:${name}` })) });

    expect((await call("list_dir", { target_directory: "packages/core" })).promptText).toContain(
      "package.json",
    );

    const found = await call("grep", { pattern: "class AsyncQueue", path: "packages/core/src" });
    expect(found.promptText).toContain("async-queue.ts");

    const file = "packages/core/src/async-queue.ts";
    expect((await call("read_file", { target_file: file, offset: 1, limit: 20 })).promptText).toContain(
      "class AsyncQueue",
    );

    const before = await readFile(join(repository.path, file), "utf8");
    const oldText = "is below 1`";
    await call("search_replace", { file_path: file, old_string: oldText, new_string: "is below one`" });
    expect(await readFile(join(repository.path, file), "utf8")).toBe(
      before.replace(oldText, () => "is below one`"),
    );
    const difference = await call("run_terminal_cmd", {
      command: "git diff --stat",
      description: "see the change",
    });
    expect(difference.promptText).toContain("1 file changed");

    const texts: Buffer[] = [];
    let output = "";
    for await (const { chunk } of tools.executeToolStream(
      {
        toolName: "run_terminal_cmd",
        inputJson: JSON.stringify({
          command: "node_modules/.bin/vitest run --project unit packages/core/src/async-queue.test.ts",
          description: "run the unit tests",
          timeout: 120_000,
        }),
        options: { streamChunkSize: 64 },
      },
      { headers },
    )) {
      if (chunk.case === "data" && chunk.value.kind === StreamDataKind.PROMPT_TEXT)
        texts.push(Buffer.from(chunk.value.data));
      if (chunk.case === "data" && chunk.value.kind === StreamDataKind.OUTPUT_JSON)
        output += Buffer.from(chunk.value.data).toString("latin1");
    }
    expect(texts.length).toBeGreaterThan(1);
    expect(Buffer.concat(texts).toString()).toContain("passed");
    expect(output).toContain('"exit_code":0');

    const controller = new AbortController();
    const running = tools.executeTool(
      {
        toolName: "run_terminal_cmd",
        inputJson: JSON.stringify({
          command: "setsid sleep 3181.5 & sleep 3181.5; echo never",
          description: "wait",
        }),
      },
      { signal: controller.signal },
    );
    expect(await eventually(() => processesWith("sleep 3181.5").length >= 2, 5_000)).toBe(true);
    controller.abort();
    expect(await statusOf(running)).toMatchObject({ code: Code.Canceled });
    expect(await eventually(() => processesWith("sleep 3181.5").length === 0, 2_000)).toBe(true);
    // Supervisors and workers wait for the next call; of what the commands started nothing is left.
    const names = await Promise.all(
      descendantsOf(server.pid)
        .filter((pid) => !ownProcesses.has(pid))
        .map((pid) => readFile(`/proc/${pid}/comm`, "utf8").catch(() => "node\n")),
    );
    expect(names.filter((name) => !/^(node|MainThread|node-MainThread)\n$/.test(name))).toEqual([]);
  }, 120_000);

  it("tells which value is wrong and touches nothing", async () => {
    const tools = createClient(GrokToolsService, createGrpcTransport({ baseUrl: server.url }));
    const path = join(repository.path, "untouched.txt");
    await writeFile(path, "a\na\n");
    const { result } = await tools.executeTool({
      toolName: "search_replace",
      inputJson: JSON.stringify({ file_path: "untouched.txt", old_string: "a", new_string: "b" }),
    });
    expect(result).toMatchObject({
      case: "error",
      value: { message: expect.stringMatching(/2|multiple|several/i) },
    });
    expect(await readFile(path, "utf8")).toBe("a\na\n");
  });
});
