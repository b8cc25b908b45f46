import { readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "../process/create-command-runner.ts";
import { descendantsOf, readProcessStat } from "../process/supervisor/process-table.ts";
import { type TestRuntime, testRuntime } from "../testing/test-runtime.ts";
import { until } from "../testing/until.ts";
import type { ToolSession } from "../tool-session.ts";
import { getTaskOutput } from "../tools/grok-build/get-task-output/get-task-output.ts";
import { killTask } from "../tools/grok-build/kill-task/kill-task.ts";
import { readFile } from "../tools/grok-build/read-file/read-file.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";

const LIMIT = 8;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
let test: TestRuntime;
let session: ToolSession;
beforeAll(async () => {
  folder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: folder.path, maxCommands: LIMIT });
  test = await testRuntime([runTerminalCmd, getTaskOutput, killTask, readFile], {
    commandRunner: runner,
    programRunner: runner.programs,
    clock: systemClock,
    environment: { PATH: process.env["PATH"], HOME: folder.path },
  });
  const tools = ["run_terminal_cmd", "get_task_output", "kill_task", "read_file"].map(
    (name) => `GrokBuild:${name}`,
  );
  session = await test.runtime.openSession({ id: "leaks", tools });
});
afterAll(async () => {
  await test[Symbol.asyncDispose]();
  await runner[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe("many commands of one session", { timeout: 60_000 }, () => {
  it("leave no descriptor, no ended process and no memory behind", async () => {
    await runAll(60);
    const before = census();
    for (let index = 0; index < 300; index++) await command("true");
    await runAll(60);
    await until(() => census().zombies === 0 && census().files <= before.files);
    expect(census().residentMiB - before.residentMiB).toBeLessThan(64);
    // That nothing is left of the last command is known a moment after its answer.
    await until(() => runner.stats().lingering === 0);
    expect(runner.stats()).toMatchObject({ live: 0, queued: 0, lingering: 0 });
  });

  it("never let a read wait, however many of them do", async () => {
    const path = join(folder.path, "a.txt");
    await writeFile(path, "text\n");
    const signal = new AbortController();
    const waiting = Array.from({ length: 60 }, () => command("sleep 30", signal.signal));
    await until(() => runner.stats().queued === 60 - LIMIT);
    const { result } = await session.execute("read_file", { target_file: path });
    expect(result.ok && result.promptText).toContain("text");
    expect(runner.stats()).toMatchObject({ live: LIMIT, queued: 60 - LIMIT });
    signal.abort(new Error("enough"));
    await Promise.allSettled(waiting);
    await until(() => runner.stats().live === 0);
  });

  it("keep the server alive when they kill their whole group", async () => {
    const { result } = await session.execute("run_terminal_cmd", {
      command: "kill -KILL 0",
      description: "t",
    });
    expect(result.ok && result.output).toMatchObject({ signal: "signal 9" });
    await command("true");
  });
});

async function command(text: string, signal?: AbortSignal): Promise<void> {
  const { result } = await session.execute(
    "run_terminal_cmd",
    { command: text, description: "t" },
    { signal },
  );
  expect(result.ok && result.output).toMatchObject({ exit_code: 0 });
}

async function runAll(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => command("true")));
}

function census(): { files: number; zombies: number; residentMiB: number } {
  return {
    // Connections come and go with the helpers.
    files: readdirSync("/proc/self/fd").filter((name) => !isSocket(name)).length,
    zombies: descendantsOf(process.pid).filter((pid) => readProcessStat(pid)?.state === "Z").length,
    residentMiB: process.memoryUsage.rss() / 1024 ** 2,
  };
}

function isSocket(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith("socket:");
  } catch {
    // Closed meanwhile: the descriptor of the listing itself.
    return true;
  }
}
