import { writeFile } from "node:fs/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { temporaryFolder } from "@trivium/core/testing";
import { openToolSession, type ToolSession } from "@trivium/grok-tools-client";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processesWith } from "./server/process-tree.ts";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

/** What the model says to the first, second … request of the first child, or of another one. */
const scripts = {
  looks: [
    {
      agent: 1,
      tool_calls: [
        { id: "c1", name: "list_dir", input: { target_directory: "." } },
        {
          id: "c2",
          name: "run_terminal_cmd",
          input: { command: "echo made > made.txt && cat made.txt", description: "make a file" },
        },
      ],
    },
    { agent: 1, text: "The folder holds note.txt." },
    { agent: 2, text: "I said that it holds note.txt." },
  ],
  spawns: [
    { agent: 1, tool_calls: [{ id: "c1", name: "task", input: { prompt: "p", description: "d" } }] },
    { agent: 1, text: "I cannot delegate." },
  ],
  sleeps: [
    {
      agent: 1,
      tool_calls: [
        {
          id: "c1",
          name: "run_terminal_cmd",
          input: { command: "sleep 3183.1", description: "wait", is_background: false },
        },
      ],
    },
  ],
};

const tools = ["task", "get_task_output", "kill_task", "run_terminal_cmd", "list_dir", "workflow"].map(
  (name) => `GrokBuild:${name}`,
);
/** Processes start and end in their own time on a busy machine. */
const patience = { timeout: 20_000 };
const work = { prompt: "Look.", description: "look around" };

describe("subagents of a session without a callback", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: ServerProcess;

  const start = (): Promise<ServerProcess> => {
    const names = Object.keys(scripts);
    const models = names.map((name) => [
      name,
      { provider: "script", scriptPath: `${folder.path}/${name}.json` },
    ]);
    const settings = [
      `models=${JSON.stringify(Object.fromEntries(models))}`,
      "defaultModel=looks",
      "crabcode.testing=true",
    ];
    return startServerProcess({ parameters: settings.flatMap((setting) => ["--set", setting]) });
  };
  const open = (on: ServerProcess = server): Promise<ToolSession> =>
    openToolSession(createGrpcTransport({ baseUrl: on.url }), { tools });

  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const [name, entries] of Object.entries(scripts)) {
      await writeFile(`${folder.path}/${name}.json`, JSON.stringify(entries));
    }
    server = await start();
    await writeFile(`${server.workspace}/note.txt`, "hello\n");
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it("are agents of the server, which work with the tools of the session and go on when asked to", async () => {
    const session = await open();
    expect(session.warnings).not.toContainEqual(expect.stringContaining("GrokBuild:task"));
    const first = await session.callOrThrow("task", { ...work, task_id: "a", run_in_background: false });
    expect(first.output).toMatchObject({
      type: "SubagentCompleted",
      output: "The folder holds note.txt.",
      subagent_id: "a",
      tool_calls: 2,
      turns: 2,
    });
    const { promptText } = await session.callOrThrow("run_terminal_cmd", {
      command: "cat made.txt",
      description: "look",
    });
    expect(promptText).toContain("made");
    const second = await session.callOrThrow("task", { ...work, resume_from: "a", run_in_background: false });
    expect(second.output).toMatchObject({
      output: "I said that it holds note.txt.",
      tool_calls: 0,
      turns: 1,
    });
  });

  it("are nobody the clients of conversations can see", async () => {
    const session = await open();
    await session.callOrThrow("task", { ...work, run_in_background: false });
    const crabcode = createClient(CrabCodeService, createGrpcTransport({ baseUrl: server.url }));
    expect((await crabcode.listAgents({})).agents).toEqual([]);
  });

  it("start no others, and have the model they are asked to have, where there is one", async () => {
    const session = await open();
    const spawning = await session.callOrThrow("task", {
      ...work,
      model: "spawns",
      run_in_background: false,
    });
    expect(spawning.output).toMatchObject({ output: "I cannot delegate.", tool_calls: 0 });
    const rules = { ...work, prompt: "help", model: "offline", run_in_background: false };
    expect((await session.callOrThrow("task", rules)).promptText).toContain("[offline mode");
    expect(await session.call("task", { ...work, model: "unheard-of" })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("unheard-of") },
    });
  });

  it("end with everything they have started when they are stopped", async () => {
    const session = await open();
    await session.callOrThrow("task", { ...work, task_id: "a", model: "sleeps" });
    await expect.poll(() => processesWith("sleep 3183.1").length, patience).toBeGreaterThan(0);
    expect((await session.callOrThrow("kill_task", { task_id: "a" })).promptText).toMatch(/^killed: /);
    await expect.poll(() => processesWith("sleep 3183.1"), patience).toEqual([]);
    const { promptText } = await session.callOrThrow("get_task_output", { task_ids: ["a"] });
    expect(promptText).toContain("Status: cancelled");
  });

  it("leave nothing when the server dies", async () => {
    await using dying = await start();
    const session = await open(dying);
    await session.callOrThrow("task", { ...work, model: "sleeps" });
    await expect.poll(() => processesWith("sleep 3183.1").length, patience).toBeGreaterThan(0);
    await dying.kill();
    await expect.poll(() => processesWith("sleep 3183.1"), patience).toEqual([]);
  });

  // The last one: there is no server after it.
  it("end with the server, which waits for no answer of their model", async () => {
    const session = await open();
    await session.callOrThrow("task", { ...work, model: "sleeps" });
    await expect.poll(() => processesWith("sleep 3183.1").length, patience).toBeGreaterThan(0);
    expect(await server.stop()).toBe(0);
    expect(processesWith("sleep 3183.1")).toEqual([]);
  });
});
