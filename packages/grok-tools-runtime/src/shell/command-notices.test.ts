import { systemClock } from "@trivium/core";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ToolNotification } from "../notifications/tool-notification.ts";
import type { Command } from "../process/command-runner.ts";
import { createCommandRunner, type ProcessRunner } from "../process/create-command-runner.ts";
import { toolContext } from "../testing/tool-context.ts";
import { until } from "../testing/until.ts";
import type { ToolContext } from "../tool.ts";
import { killTask } from "../tools/grok-build/kill-task/kill-task.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";
import { CommandNotices } from "./command-notices.ts";
import { shellParams } from "./shell-params.ts";
import { taskRegistry } from "./task-registry.ts";

describe("CommandNotices", () => {
  it("tells of new output ten times a second, the newest part of much, and nothing while there is none", async () => {
    const clock = new ManualClock();
    const told: ToolNotification[] = [];
    const output = growingOutput();
    const context = toolContext({ clock, notify: (notification) => told.push(notification) });
    new CommandNotices({ command: "c", timeoutMs: 1000 }, context).follow(output.command);
    const chunks = (): unknown[] =>
      told.map((notification) => {
        if (notification.type !== "BashOutputChunk") return notification.type;
        const { output: base64, total_bytes: totalBytes, truncated } = notification;
        return [Buffer.from(base64, "base64").length, totalBytes, truncated];
      });
    await clock.advance(250);
    expect(chunks()).toEqual([[0, 0, false]]);
    output.write("abc");
    await clock.advance(100);
    output.write("ä".repeat(20_000));
    await clock.advance(100);
    await clock.advance(100);
    // A character is not cut.
    expect(chunks().slice(1)).toEqual([
      [3, 3, false],
      [20_000, 40_003, true],
    ]);
    output.end();
    await clock.advance(100);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("what the host is told of commands", { timeout: 20_000 }, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let runner: ProcessRunner;
  beforeAll(async () => {
    folder = await temporaryFolder();
    runner = await createCommandRunner({ dataFolder: folder.path });
  });
  afterAll(async () => {
    await runner[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  function open(params: object = {}): { context: ToolContext<unknown>; told: ToolNotification[] } {
    const told: ToolNotification[] = [];
    const context = toolContext({
      workingDirectory: folder.path,
      commandRunner: runner,
      clock: systemClock,
      environment: { PATH: process.env["PATH"] },
      params: shellParams.schema.parse(params),
      notify: (notification) => told.push(notification),
    });
    return { context, told };
  }

  it("tells how a foreground command ended", async () => {
    const { context, told } = open();
    await runTerminalCmd.run({ command: "echo hi; exit 3" }, context);
    const base = { tool_call_id: "call-1", command: "echo hi; exit 3", cwd: folder.path };
    expect(told[0]).toEqual({
      type: "BashOutputChunk",
      ...base,
      output: "",
      total_bytes: 0,
      truncated: false,
    });
    expect(told.at(-1)).toEqual({
      type: "BashExecutionComplete",
      ...base,
      output: "aGkK",
      total_bytes: 3,
      truncated: false,
      exit_code: 3,
      signal: null,
    });
  });

  it("tells of a time-out with both times", async () => {
    const { context, told } = open();
    await runTerminalCmd.run({ command: "sleep 30", timeout: 1200 }, context);
    const end = told.at(-1);
    expect(end).toMatchObject({
      type: "BashExecutionTimeout",
      timeout: { secs: 1, nanos: 200_000_000 },
      elapsed: { secs: expect.any(Number), nanos: expect.any(Number) },
    });
  });

  it("tells of a command that could not be started, and of one that was cancelled", async () => {
    const { context, told } = open({ shell: "/no/such/shell" });
    await expect(runTerminalCmd.run({ command: "true" }, context)).rejects.toThrow("/no/such/shell");
    expect(told.at(-1)).toMatchObject({
      type: "BashExecutionFailed",
      error: expect.stringContaining("/no/such/shell"),
    });
    const other = open();
    const controller = new AbortController();
    const running = runTerminalCmd.run(
      { command: "sleep 30" },
      { ...other.context, signal: controller.signal },
    );
    await until(() => runner.stats().live === 1);
    controller.abort(new Error("no longer wanted"));
    await expect(running).rejects.toThrow("no longer wanted");
    expect(other.told.at(-1)).toMatchObject({
      type: "BashExecutionComplete",
      exit_code: null,
      signal: "cancelled",
    });
  });

  it("tells once of a task that goes to the background and once of its end", async () => {
    const { context, told } = open();
    const { output } = await runTerminalCmd.run(
      { command: "echo out; sleep 0.3; exit 2", description: "why", is_background: true },
      context,
    );
    await until(() => told.at(-1)?.type === "TaskCompleted");
    const types = told.map(({ type }) => type).filter((type) => type !== "BashOutputChunk");
    expect(types).toEqual(["BashExecutionBackgrounded", "TaskCompleted"]);
    expect(told.filter(({ type }) => type === "BashOutputChunk").at(-1)).toMatchObject({
      output: "b3V0Cg==",
    });
    expect(told[0]).toMatchObject({ task_id: output["task_id"], description: "why" });
    expect(told[0]).not.toHaveProperty("monitor_description");
    expect(told.at(-1)).toMatchObject({
      task_id: output["task_id"],
      command: "echo out; sleep 0.3; exit 2",
      output: "out\n",
      output_total_bytes: 4,
      exit_code: 2,
      signal: null,
      completed: true,
      kind: "bash",
      explicitly_killed: false,
      owner_session_id: "session-1",
      description: "why",
      is_backgrounded: true,
      start_time: { secs_since_epoch: expect.any(Number), nanos_since_epoch: expect.any(Number) },
    });
  });

  it("tells of killed tasks, and of those that end with their session before that has ended", async () => {
    const { context, told } = open({ auto_background_on_timeout: true, foreground_block_budget_ms: 50 });
    await runTerminalCmd.run({ command: "sleep 30" }, context);
    expect(told.at(-1)).toMatchObject({ type: "BashExecutionBackgrounded", task_id: "call-1" });
    await killTask.run({ task_id: "call-1" }, context);
    await until(() => told.at(-1)?.type === "TaskCompleted");
    expect(told.at(-1)).toMatchObject({
      explicitly_killed: true,
      kill_result_delivered: true,
      exit_code: null,
    });
    told.length = 0;
    await runTerminalCmd.run({ command: "sleep 30", is_background: true }, context);
    await context.resource(taskRegistry).close();
    expect(told.at(-1)).toMatchObject({
      type: "TaskCompleted",
      signal: "cancelled",
      explicitly_killed: false,
    });
  });
});

/** A command whose output grows when the test says so. */
function growingOutput(): { command: Command; write: (text: string) => void; end: () => void } {
  let log = Buffer.alloc(0);
  const ended = Promise.withResolvers<void>();
  const command = {
    ended: ended.promise,
    get outputBytes() {
      return log.length;
    },
    readLog: (offset: number, maxBytes: number) => Promise.resolve(log.subarray(offset, offset + maxBytes)),
  };
  return {
    command: command as unknown as Command,
    write: (text) => {
      log = Buffer.concat([log, Buffer.from(text)]);
    },
    end: ended.resolve,
  };
}
