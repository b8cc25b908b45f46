import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ToolSuccess } from "../execute/tool-answer.ts";
import { createGrokToolsRuntime } from "../grok-tools-runtime.ts";
import type { JsonObject } from "../json.ts";
import { createCommandRunner, type ProcessRunner } from "../process/create-command-runner.ts";
import { type TestRuntime, testRuntime } from "../testing/test-runtime.ts";
import type { ToolSession } from "../tool-session.ts";
import { getTaskOutput } from "../tools/grok-build/get-task-output/get-task-output.ts";
import { killTask } from "../tools/grok-build/kill-task/kill-task.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";

const tools = ["run_terminal_cmd", "get_task_output", "kill_task"].map((name) => `GrokBuild:${name}`);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
let test: TestRuntime;

beforeAll(async () => {
  folder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: folder.path });
});

afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

beforeEach(async () => {
  test = await testRuntime([runTerminalCmd, getTaskOutput, killTask], {
    commandRunner: runner,
    programRunner: runner.programs,
    clock: systemClock,
    environment: { PATH: process.env["PATH"], HOME: folder.path },
  });
});

afterEach(() => test[Symbol.asyncDispose]());

describe("tasks of an earlier life of a session", () => {
  it("still have their end and their output", async () => {
    const taskId = await inEarlierLife(async (session) => {
      const taskId = await start(session, "echo said; exit 3");
      await execute(session, "get_task_output", { task_ids: [taskId], timeout_ms: 20_000 });
      return taskId;
    });
    const session = await open();
    const { output } = await execute(session, "get_task_output", { task_ids: [taskId], timeout_ms: 20_000 });
    expect(output["Result"]).toMatchObject({
      task_id: taskId,
      command: "echo said; exit 3",
      status: "failed",
      exit_code: 3,
      output: "said\n",
      raw_output_bytes: 5,
      ended: expect.any(String),
    });
    expect(await execute(session, "kill_task", { task_id: taskId })).toMatchObject({
      output: { Result: { outcome: "already_exited", message: expect.stringContaining("failed") } },
    });
  });

  it("were ended with the session when they still ran", async () => {
    const taskId = await inEarlierLife((session) => start(session, "echo up; sleep 60"));
    const session = await open();
    const { output } = await execute(session, "get_task_output", { task_ids: [taskId, "nobody"] });
    expect(output["MultiResult"]).toMatchObject({
      results: [{ status: "cancelled", exit_code: null }, { status: "not_found" }],
    });
  });

  it("say so when their server died", async () => {
    const lost = { ...tombstone("lost"), status: "running", exit_code: null, ended: null };
    const session = await open(JSON.stringify({ state: { "trivium.TaskTombstones": { tasks: [lost] } } }));
    const { promptText } = await execute(session, "get_task_output", { task_ids: ["lost"] });
    expect(promptText).toContain("Status: cancelled");
    expect(promptText).toContain("still ran when its server ended");
    const killed = await execute(session, "kill_task", { task_id: "lost" });
    expect(killed.promptText).toMatch(/^already_exited: .*its server ended/);
  });

  it("are named when another id is not known", async () => {
    const session = await open(state([tombstone("one"), tombstone("two")]));
    expect(await refusal(session, "three")).toContain("[one, two]");
  });

  it("cannot make a file readable that is no log of the session", async () => {
    const secret = join(folder.path, "secret.log");
    await writeFile(secret, "hidden");
    const session = await open(state([{ ...tombstone("one"), output_file: secret }]));
    const { output, promptText } = await execute(session, "get_task_output", { task_ids: ["one"] });
    expect(promptText).not.toContain("hidden");
    expect(output["Result"]).toMatchObject({
      status: "completed",
      output: "[Its log is gone.]",
      output_file: "",
    });
  });

  it("keep their logs when a call has the same id again", async () => {
    const taskId = await inEarlierLife(async (session) => {
      const taskId = await start(session, "echo first");
      await execute(session, "get_task_output", { task_ids: [taskId], timeout_ms: 20_000 });
      return taskId;
    });
    const session = await open();
    await execute(session, "run_terminal_cmd", { command: "echo second", description: "t" });
    const { output } = await execute(session, "get_task_output", { task_ids: [taskId] });
    expect(output["Result"]).toMatchObject({ output: "first\n" });
  });

  it("are forgotten from the one that started first on when there are more than a hundred", async () => {
    const session = await open(state(Array.from({ length: 100 }, (_, index) => tombstone(`t${index}`))));
    await start(session, "true");
    expect(await refusal(session, "t0")).toContain("no task t0");
    expect(await execute(session, "kill_task", { task_id: "t1" })).toMatchObject({ ok: true });
  });

  it("are left alone by a state that cannot be decoded", async () => {
    const session = await open(state([{ ...tombstone("one"), status: "odd" }]));
    expect(await refusal(session, "one")).toContain("No background tasks");
  });
});

function open(initialToolStateJson = ""): Promise<ToolSession> {
  return test.runtime.openSession({ id: "s", tools, initialToolStateJson });
}

/** Does something in a session whose server then stops. */
async function inEarlierLife<Value>(act: (session: ToolSession) => Promise<Value>): Promise<Value> {
  await using runtime = createGrokToolsRuntime(test.options);
  return await act(await runtime.openSession({ id: "s", tools }));
}

async function start(session: ToolSession, command: string): Promise<string> {
  const { output } = await execute(session, "run_terminal_cmd", {
    command,
    description: "t",
    is_background: true,
  });
  return textOf(output, "task_id");
}

/** All calls have the same id. */
async function execute(session: ToolSession, name: string, input: JsonObject): Promise<ToolSuccess> {
  const { result } = await session.execute(name, input, { callId: "call-1" });
  if (!result.ok) throw result.error;
  return result;
}

/** Why a task cannot be ended. */
async function refusal(session: ToolSession, taskId: string): Promise<string | undefined> {
  const { result } = await session.execute("kill_task", { task_id: taskId });
  return result.ok ? undefined : result.error.message;
}

function tombstone(taskId: string): JsonObject {
  return {
    task_id: taskId,
    command: "true",
    status: "completed",
    exit_code: 0,
    signal: null,
    started: "2026-01-01T00:00:00.000Z",
    ended: "2026-01-01T00:00:01.000Z",
    output_file: "",
  };
}

function state(tasks: readonly JsonObject[]): string {
  return JSON.stringify({ state: { "trivium.TaskTombstones": { tasks } } });
}

function textOf(output: ToolSuccess["output"], key: string): string {
  const value = output[key];
  if (typeof value !== "string") throw new Error(`no ${key} in the output`);
  return value;
}
