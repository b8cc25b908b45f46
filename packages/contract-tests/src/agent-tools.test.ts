import { mkdir, realpath, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { temporaryFolder } from "@trivium/core/testing";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePlace } from "./crabcode/place.ts";
import type { ScriptEntry } from "./crabcode/vector.ts";
import { descendantsOf, processesWith } from "./server/process-tree.ts";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

type Payload = Record<string, unknown> & { type: string };
type Client = ReturnType<typeof createClient<typeof CrabCodeService>>;

const require = createRequire(import.meta.url);
const mcpPackage = require.resolve("@modelcontextprotocol/server-filesystem/package.json");
const mcpProgram = join(dirname(mcpPackage), "dist", "index.js");

describe("the tools of agents on a running server", { timeout: 60_000 }, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let root: string;
  let server: ServerProcess;
  let client: Client;

  beforeAll(async () => {
    folder = await temporaryFolder();
    root = await realpath(folder.path);
    const workspace = join(root, "workspace");
    const settings = join(root, "home", ".crabcode");
    await mkdir(workspace);
    await mkdir(settings, { recursive: true });
    await writeFile(join(settings, "settings.json"), JSON.stringify({ trusted_directories: [workspace] }));
    server = await startServerProcess({
      workspace,
      dataDir: join(root, "data"),
      env: { HOME: join(root, "home"), TRIVIUM_CRABCODE_TESTING: "1" },
    });
    client = createClient(CrabCodeService, createGrpcTransport({ baseUrl: server.url }));
  }, 60_000);

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  /** Sends one message in a new session whose model plays the script; `onEvent` sees every event as it comes. */
  async function converse(
    sessionId: string,
    script: readonly ScriptEntry[],
    options: {
      settings?: Record<string, unknown>;
      onEvent?: (event: Payload) => Promise<void>;
    } = {},
  ): Promise<{ events: Payload[]; cwd: string; request: (n: number) => Promise<string | undefined> }> {
    const cwd = join(server.workspace, sessionId);
    const place = await makePlace(
      { cwd, scripts: join(root, `scripts-${sessionId}`) },
      { settings: options.settings ?? {} },
      script,
    );
    const headers = { "crabcode-create-session": "1", "crabcode-cwd": cwd };
    const events: Payload[] = [];
    for await (const { payloadJson } of client.sendMessage({ text: "go", sessionId }, { headers })) {
      const event = JSON.parse(payloadJson) as Payload;
      events.push(event);
      await options.onEvent?.(event);
    }
    return { events, cwd, request: (n) => place.modelRequest(n) };
  }

  it("are called by programs, and the death of a worker ends only what it ran", async () => {
    const dying = `store("k", 1); text("before"); await tools.Write({ file_path: "a.txt", content: "x" });`;
    const { events } = await converse(
      "programs",
      [
        { tool_calls: [{ id: "c1", name: "Code", input: { source: dying } }] },
        { tool_calls: [{ id: "c2", name: "Code", input: { source: 'text(String(load("k")))' } }] },
        { text: "done" },
      ],
      {
        async onEvent({ type, tool_use_id }) {
          if (type !== "permission_request") return;
          expect(tool_use_id).toBe("c1/tool-1");
          const ours = new Set(descendantsOf(server.pid));
          for (const pid of processesWith("cell-worker")) if (ours.has(pid)) process.kill(pid, "SIGKILL");
        },
      },
    );
    const results = events.filter(({ type }) => type === "tool_result");
    expect(results).toMatchObject([
      { tool_use_id: "c1/tool-1", result: "Interrupted", parent_tool_use_id: "c1" },
      { tool_use_id: "c1", result: "Error: the code worker died; stored values are lost", is_error: true },
      { tool_use_id: "c2", is_error: false, result: expect.stringMatching(/\nOutput:\nundefined$/) },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
  });

  it("come from MCP servers, also in programs, and they end with their session", async () => {
    const shared = join(root, "shared");
    await mkdir(shared);
    await writeFile(join(shared, "greeting.txt"), "hello from a file");
    const sessionId = "mcp";
    const path = join(shared, "greeting.txt");
    const inProgram = `const { text: said, data } = await tools.mcp__my_files__read_text_file({ path: ${JSON.stringify(path)} });
      text(said); text(data);`;
    const written: ScriptEntry = {
      tool_calls: [
        {
          id: "c3",
          name: "mcp__my_files__write_file",
          input: { path: join(shared, "new.txt"), content: "written" },
        },
      ],
    };
    const asked: Payload[] = [];
    const { events, request } = await converse(
      sessionId,
      [
        { tool_calls: [{ id: "c1", name: "mcp__my_files__read_text_file", input: { path } }] },
        { tool_calls: [{ id: "c2", name: "Code", input: { source: inProgram } }] },
        written,
        { text: "done" },
      ],
      {
        settings: {
          mcp_servers: {
            "my-files": { command: process.execPath, args: [mcpProgram, shared], trusted: true },
            broken: { command: "/no/such/program" },
          },
        },
        async onEvent(event) {
          if (event.type !== "permission_request") return;
          asked.push(event);
          await client.respondPermission({
            sessionId,
            toolUseId: String(event["tool_use_id"]),
            allowed: true,
          });
        },
      },
    );
    expect(JSON.parse((await request(1)) ?? "{}")).toMatchObject({
      tools: expect.arrayContaining(["mcp__my_files__read_text_file", "mcp__my_files__write_file"]),
    });
    const results = events.filter(({ type }) => type === "tool_result");
    expect(results).toMatchObject([
      { tool_use_id: "c1", result: "hello from a file", is_error: false },
      { tool_use_id: "c2/tool-1", result: "hello from a file", parent_tool_use_id: "c2" },
      { tool_use_id: "c2", result: expect.stringMatching(/\nOutput:\nhello from a file\nnull$/) },
      { tool_use_id: "c3", is_error: false },
    ]);
    // What a trusted server calls reading is not asked about.
    expect(asked).toMatchObject([{ tool_use_id: "c3", permission_key: "mcp__my_files__write_file" }]);
    expect(server.log()).toContain("broken");
    expect(processesWith(`${mcpProgram} ${shared}`)).toHaveLength(1);
    await server.stop();
    expect(processesWith(`${mcpProgram} ${shared}`)).toEqual([]);
  });
});
