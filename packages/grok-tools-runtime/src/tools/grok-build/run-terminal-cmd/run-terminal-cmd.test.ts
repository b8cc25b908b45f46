import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallOptions } from "../../../execute/call-options.ts";
import type { ToolAnswer } from "../../../execute/tool-answer.ts";
import { createCommandRunner, type ProcessRunner } from "../../../process/create-command-runner.ts";
import { leftoversEndedNote, MAX_COMMANDS_WITH_LEFTOVERS } from "../../../shell/leftover-limit.ts";
import { commandLines } from "../../../testing/command-lines.ts";
import { type TestRuntime, testRuntime } from "../../../testing/test-runtime.ts";
import { until } from "../../../testing/until.ts";
import type { ToolSession } from "../../../tool-session.ts";
import { getTaskOutput } from "../get-task-output/get-task-output.ts";
import { killTask } from "../kill-task/kill-task.ts";
import { waitTasks } from "../wait-tasks/wait-tasks.ts";
import { runTerminalCmd } from "./run-terminal-cmd.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
let test: TestRuntime;
beforeAll(async () => {
  folder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: folder.path });
  test = await testRuntime([runTerminalCmd, getTaskOutput, killTask, waitTasks], {
    commandRunner: runner,
    programRunner: runner.programs,
    clock: systemClock,
    environment: {
      PATH: process.env["PATH"],
      HOME: folder.path,
      TRIVIUM_TOKEN: "secret",
      OPENAI_API_KEY: "secret",
      EXTRA: "kept back",
      ACME_MODELS: "secret",
    },
    secretVariables: ["ACME_MODELS"],
  });
});
afterAll(async () => {
  await test[Symbol.asyncDispose]();
  await runner[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

let sessionCount = 0;
const open = (params: Record<string, unknown> = {}, reminders = false): Promise<ToolSession> =>
  test.runtime.openSession({
    id: `shell-${++sessionCount}`,
    tools: [
      { id: "GrokBuild:run_terminal_cmd", params: params as never },
      "GrokBuild:get_task_output",
      "GrokBuild:kill_task",
      "GrokBuild:wait_tasks",
    ],
    systemRemindersEnabled: reminders,
  });

const run = async (session: ToolSession, input: object, options: CallOptions = {}): Promise<Answer> =>
  toAnswer(await session.execute("run_terminal_cmd", { description: "t", ...input }, options));
const call = async (session: ToolSession, name: string, input: object): Promise<Answer> =>
  toAnswer(await session.execute(name, input as never));

describe("GrokBuild:run_terminal_cmd", { timeout: 20_000 }, () => {
  it("answers with the output in order, the exit code and the log", async () => {
    await using session = await open();
    const { output, text } = await run(
      session,
      { command: "echo a; echo b >&2; exit 3" },
      { byteBuffers: "text" },
    );
    expect(text).toBe("exit: 3\na\nb\n");
    expect(output).toMatchObject({
      type: "Bash",
      exit_code: 3,
      output: "a\nb\n",
      total_bytes: 4,
      signal: null,
    });
    expect(readFileSync(String(output["output_file"]), "utf8")).toBe("a\nb\n");
  });

  it("ends a command at its time-out and keeps what it wrote", async () => {
    await using session = await open();
    const { output, text } = await run(session, { command: "echo early; sleep 30", timeout: 200 });
    expect(output).toMatchObject({ timed_out: true, signal: "timeout", exit_code: -1 });
    expect(text).toBe("exit: killed (timeout)\nearly\n");
  });

  it("ends a command at the deadline of its call and still answers", async () => {
    await using session = await open();
    const { output } = await run(
      session,
      { command: "trap '' TERM; echo early; sleep 30" },
      { timeoutMs: 300 },
    );
    expect(output).toMatchObject({ timed_out: true, total_bytes: 6 });
  });

  it("ends the tree of a call that is cancelled", async () => {
    await using session = await open();
    const controller = new AbortController();
    const file = join(test.workspace, "cancelled");
    const answer = run(
      session,
      { command: `touch ${file}; setsid sleep 41 & sleep 41` },
      { signal: controller.signal },
    );
    const failed = expect(answer).rejects.toThrow("abort");
    await until(() => existsSync(file));
    controller.abort();
    await failed;
    await until(() => runner.stats().live === 0 && runner.stats().lingering === 0);
    expect(commandLines().filter((line) => line.includes("sleep 41"))).toEqual([]);
  });

  it("keeps what a command leaves running until the session ends", async () => {
    const session = await open();
    await run(session, { command: "sleep 42 & echo up" });
    expect(commandLines().filter((line) => line === "sleep 42")).toHaveLength(1);
    await session[Symbol.asyncDispose]();
    expect(commandLines().filter((line) => line === "sleep 42")).toEqual([]);
  });

  it("passes on no variables but the core ones and those it sets", async () => {
    await using session = await open({ env: { MINE: "yes", MY_SECRET: "no" } });
    const { text } = await run(session, { command: "env | cut -d= -f1 | sort" });
    const names = text.split("\n").slice(1, -1);
    expect(names).toContain("MINE");
    for (const name of ["TRIVIUM_TOKEN", "OPENAI_API_KEY", "EXTRA", "MY_SECRET"])
      expect(names).not.toContain(name);
  });

  it("lets a toolset inherit more, but never keys or the server's own variables", async () => {
    await using session = await open({
      shell_environment_policy: { inherit: "all", ignore_default_excludes: true, exclude: ["HO?E"] },
    });
    const { text } = await run(session, { command: "env | cut -d= -f1 | sort" });
    const names = text.split("\n");
    expect(names).toContain("EXTRA");
    for (const name of ["TRIVIUM_TOKEN", "OPENAI_API_KEY", "HOME"]) expect(names).not.toContain(name);
  });

  it("runs a configured prefix first and shows the command as sent", async () => {
    await using session = await open({ cmd_prefix: "export A=1" });
    const { output, text } = await run(session, { command: "echo $A" });
    expect(text).toBe("exit: 0\n1\n");
    expect(output["command"]).toBe("echo $A");
  });

  it("gives a call id no way out of the session's folder", async () => {
    await using session = await open();
    const { output } = await run(session, { command: "echo x" }, { callId: "../../evil" });
    expect(String(output["output_file"])).toMatch(/\/terminal\/[A-Za-z0-9_-]+\.log$/);
    const other = await run(session, { command: "echo y" }, { callId: "../../evil/" });
    expect(other.output["output_file"]).not.toBe(output["output_file"]);
  });

  it("gives no log to a second command while something of the first may write it", async () => {
    await using session = await open();
    const options = { callId: "again" };
    const first = await run(session, { command: "sleep 47 & echo first" }, options);
    const second = await run(session, { command: "echo second" }, options);
    expect(second.output["output_file"]).not.toBe(first.output["output_file"]);
    expect(readFileSync(String(first.output["output_file"]), "utf8")).toBe("first\n");
  });

  it("ends what one command too many leaves running, and says so", async () => {
    await using session = await open();
    for (let count = 0; count < MAX_COMMANDS_WITH_LEFTOVERS; count++) {
      const { text } = await run(session, { command: "sleep 48 > /dev/null 2>&1 &" });
      expect(text).toBe("exit: 0\n");
    }
    const { text } = await run(session, { command: "sleep 49 > /dev/null 2>&1 & echo up" });
    expect(text).toBe(`exit: 0\nup\n\n${leftoversEndedNote}\n`);
    expect(commandLines().filter((line) => line === "sleep 49")).toEqual([]);
    const started = await run(session, { command: "sleep 49 > /dev/null 2>&1 &", is_background: true });
    const task_ids = [started.output["task_id"]];
    const task = await call(session, "get_task_output", { task_ids, timeout_ms: 5000 });
    expect(task.text).toContain(leftoversEndedNote);
    await until(() => !commandLines().includes("sleep 49"));
  });

  it("passes on nothing that the runtime was told is secret", async () => {
    await using session = await open({ shell_environment_policy: { inherit: "all" } });
    const { text } = await run(session, { command: "env | cut -d= -f1" });
    expect(text.split("\n")).toContain("EXTRA");
    expect(text.split("\n")).not.toContain("ACME_MODELS");
  });

  it("says which folder is missing", async () => {
    await using session = await open();
    const answer = await run(
      session,
      { command: "rm -r $PWD && echo gone" },
      { workingDirectory: await subfolder("gone") },
    );
    expect(answer.text).toContain("gone");
    expect((await run(session, { command: "true" }, { workingDirectory: "gone" })).code).toBe(
      ErrorCode.INVALID_INPUT,
    );
  });

  it.each([
    ["allow_background_operator", { allow_background_operator: false }, { command: "sleep 1 & echo x" }],
    ["a kill that would match its own shell", {}, { command: "pkill -f myserver; ./myserver" }],
    ["a sandbox that does not work here", { sandbox: "bwrap" }, { command: "true" }],
    ["a negative time-out", {}, { command: "true", timeout: -1 }],
  ])("refuses %s", async (_title, params, input) => {
    await using session = await open(params);
    const { bubblewrap } = await runner.containment();
    if ("sandbox" in params && bubblewrap) return;
    expect((await run(session, input)).code).toBe(ErrorCode.INVALID_INPUT);
  });

  it("shows nothing of the server's data inside bubblewrap, and lets a command end in its own way", async ({
    skip,
  }) => {
    const { bubblewrap } = await runner.containment();
    skip(!bubblewrap, "bubblewrap does not work here");
    await using session = await open({ sandbox: "bwrap" });
    const { text } = await run(session, { command: "find data -type f; touch inside; ls inside" });
    expect(text).toMatch(/^exit: 0\n(?:data\/.*\.log(?:\.signal)?\n){2}inside\n$/);
    const command = "trap 'sleep 0.1; echo asked; exit 3' TERM; echo go; while :; do sleep 0.02; done";
    const ended = await run(session, { command, timeout: 300 });
    expect(ended.text).toContain("asked\n");
  });

  it("tells a death by a signal inside bubblewrap from an exit code", async ({ skip }) => {
    const { bubblewrap } = await runner.containment();
    skip(!bubblewrap, "bubblewrap does not work here");
    await using session = await open({ sandbox: "bwrap" });
    for (const [name, number] of [
      ["KILL", 9],
      ["TERM", 15],
      ["SEGV", 11],
      ["INT", 2],
      ["PIPE", 13],
    ] as const) {
      const { output } = await run(session, { command: `echo out; kill -${name} $$` });
      expect(output).toMatchObject({ signal: `signal ${number}`, exit_code: -1, total_bytes: 4 });
    }
    for (const code of [137, 130, 141]) {
      const { output, text } = await run(session, { command: `echo err >&2; exit ${code}` });
      expect(output).toMatchObject({ signal: null, exit_code: code });
      expect(text).toBe(`exit: ${code}\nerr\n`);
    }
    const { output } = await run(session, { command: "sleep 0 & wait; true" });
    expect(output).toMatchObject({ signal: null, exit_code: 0 });
    expect(existsSync(`${String(output["output_file"])}.signal`)).toBe(false);
  });

  it("says that a pseudo-terminal is not available instead of doing without", async () => {
    await using session = await open({ use_pty: true });
    expect((await run(session, { command: "true" })).code).toBe(ErrorCode.NOT_IMPLEMENTED);
  });

  it("reports progress in pieces that are whole characters", async () => {
    await using session = await open();
    const pieces: { bytes: Uint8Array; offset: number }[] = [];
    const command = "for i in 1 2 3; do printf 'äöü%.0s' $(seq 2000); sleep 0.15; done; sleep 0.3";
    await run(session, { command }, { onProgress: (piece) => pieces.push(piece) });
    const text = Buffer.concat(pieces.map((piece) => piece.bytes)).toString();
    expect(text).toBe("äöü".repeat(6000));
    for (const piece of pieces) {
      expect(piece.bytes.length).toBeLessThanOrEqual(16_384);
      expect(Buffer.from(piece.bytes).toString()).not.toContain("\uFFFD");
    }
  });
});

describe("background tasks", { timeout: 20_000 }, () => {
  it("run beside calls and are shown, waited for and killed by id", async () => {
    await using session = await open();
    const started = await run(session, { command: "echo begun; sleep 43", is_background: true });
    const taskId = String(started.output["task_id"]);
    expect(started.output).toMatchObject({
      type: "BackgroundTaskStarted",
      status: "running",
      task_type: "bash",
    });
    expect(started.text).toContain(`<task-id>${taskId}</task-id>`);
    const running = await call(session, "get_task_output", { task_ids: [taskId], timeout_ms: 100 });
    expect(running.output["Result"]).toMatchObject({ status: "running", exit_code: null, ended: null });
    expect(running.text).toContain("begun");
    const killed = await call(session, "kill_task", { task_id: taskId });
    expect(killed.output["Result"]).toMatchObject({ outcome: "killed" });
    const after = await call(session, "get_task_output", { task_id: taskId });
    expect(after.output["Result"]).toMatchObject({ status: "cancelled", exit_code: null });
    expect((await call(session, "kill_task", { task_id: taskId })).output["Result"]).toMatchObject({
      outcome: "already_exited",
    });
  });

  it("end with their session", async () => {
    const session = await open();
    await run(session, { command: "setsid sleep 44 & sleep 44", is_background: true });
    await until(() => commandLines().filter((line) => line === "sleep 44").length === 2);
    await session[Symbol.asyncDispose]();
    expect(commandLines().filter((line) => line === "sleep 44")).toEqual([]);
  });

  it("take over a foreground command that the call no longer waits for", async () => {
    await using session = await open({ auto_background_on_timeout: true, foreground_block_budget_ms: 200 });
    const moved = await run(session, { command: "sleep 0.6; echo done" }, { callId: "call-7" });
    expect(moved.output).toMatchObject({ type: "BackgroundTaskStarted", task_id: "call-7" });
    const ended = await call(session, "get_task_output", { task_ids: ["call-7"], timeout_ms: 5000 });
    expect(ended.output["Result"]).toMatchObject({ status: "completed", exit_code: 0 });
  });

  it("are not ended with the call that started them", async () => {
    await using session = await open();
    const controller = new AbortController();
    const started = await run(
      session,
      { command: "sleep 0.3; echo on", is_background: true },
      {
        signal: controller.signal,
        timeoutMs: 100,
      },
    );
    controller.abort();
    const task_ids = [started.output["task_id"]];
    const ended = await call(session, "get_task_output", { task_ids, timeout_ms: 5000 });
    expect(ended.output["Result"]).toMatchObject({ status: "completed" });
  });

  it("have their end told once, unless a call has shown it", async () => {
    await using session = await open({}, true);
    const first = await run(session, { command: "exit 4", is_background: true });
    const shown = await run(session, { command: "true", is_background: true });
    await call(session, "get_task_output", { task_ids: [shown.output["task_id"]], timeout_ms: 5000 });
    await call(session, "wait_tasks", { task_ids: [first.output["task_id"]], mode: "wait_any" });
    const quiet = await run(session, { command: "true" });
    expect(quiet.text).not.toContain("system-reminder");
    const third = await run(session, { command: "exit 5", is_background: true });
    // The task ends a moment after its process.
    let told = await run(session, { command: "true" });
    for (let attempt = 0; attempt < 1000 && !told.text.includes("system-reminder"); attempt += 1) {
      told = await run(session, { command: "true" });
    }
    expect(told.text).toContain(
      `Background task ${String(third.output["task_id"])} has ended (exit code: 5)`,
    );
    expect((await run(session, { command: "true" })).text).not.toContain("system-reminder");
  });

  it("show the beginning and the end of a long output", async () => {
    await using session = await open();
    const started = await run(session, { command: "seq 1 300000", is_background: true });
    const task_ids = [started.output["task_id"]];
    const { output } = await call(session, "get_task_output", { task_ids, timeout_ms: 5000 });
    const result = output["Result"] as { output: string };
    expect(result).toMatchObject({ truncated: true, raw_output_bytes: 1_988_895 });
    expect(result.output).toMatch(/^1\n2\n3\n/);
    expect(result.output).toMatch(/\n299999\n300000\n\n\n\[Output truncated - 1988895 bytes total/);
  });

  it("wait for any of several", async () => {
    await using session = await open();
    const slow = await run(session, { command: "sleep 45", is_background: true });
    const quick = await run(session, { command: "sleep 0.1", is_background: true });
    const task_ids = [slow.output["task_id"], quick.output["task_id"]];
    const { output } = await call(session, "wait_tasks", { task_ids, mode: "wait_any", timeout_ms: 8000 });
    expect(output["MultiResult"]).toMatchObject({
      summary: "1/2 tasks completed (wait_any)",
      results: [{ status: "running" }, { status: "completed" }],
    });
  });

  it("keep their log from a later command of the same call id after their end", async () => {
    await using session = await open();
    const options = { callId: "once more" };
    const started = await run(session, { command: "echo kept", is_background: true }, options);
    const task_ids = [started.output["task_id"]];
    await call(session, "get_task_output", { task_ids, timeout_ms: 5000 });
    await until(() => runner.stats().live === 0 && runner.stats().lingering === 0);
    await run(session, { command: "echo other" }, options);
    const { output } = await call(session, "get_task_output", { task_ids });
    expect(output["Result"]).toMatchObject({ output: "kept\n" });
  });

  it("write logs that two tasks of one call id do not share", async () => {
    await using session = await open();
    const first = await run(session, { command: "sleep 46", is_background: true }, { callId: "same" });
    const second = await run(session, { command: "sleep 46", is_background: true }, { callId: "same" });
    expect(first.output["output_file"]).not.toBe(second.output["output_file"]);
  });
});

interface Answer {
  readonly output: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly code: ErrorCode | undefined;
}

function toAnswer({ result }: ToolAnswer): Answer {
  return result.ok
    ? { output: result.output, text: result.promptText, code: undefined }
    : { output: {}, text: result.error.message, code: result.error.code };
}

async function subfolder(name: string): Promise<string> {
  await mkdir(join(test.workspace, name));
  return name;
}
