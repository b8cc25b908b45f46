import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { OpenSessionOptions } from "../grok-tools-runtime.ts";
import { createCommandRunner } from "../process/create-command-runner.ts";
import { scriptedRunner } from "../testing/scripted-runner.ts";
import { testRuntime } from "../testing/test-runtime.ts";
import { until } from "../testing/until.ts";
import type { ToolSession } from "../tool-session.ts";
import { getTaskOutput } from "../tools/grok-build/get-task-output/get-task-output.ts";
import { killTask } from "../tools/grok-build/kill-task/kill-task.ts";
import { listDir } from "../tools/grok-build/list-dir/list-dir.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";
import { task } from "../tools/grok-build/task/task.ts";
import { updateGoal } from "../tools/grok-build/update-goal/update-goal.ts";

const tools = [updateGoal, task, getTaskOutput, killTask, listDir, runTerminalCmd];

async function open(objective: string | null) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const processes = stack.use(await createCommandRunner({ dataFolder: folder.path }));
  const runner = scriptedRunner();
  const test = stack.use(
    await testRuntime(tools, {
      subagentRunner: runner,
      commandRunner: processes,
      environment: { PATH: process.env["PATH"] },
    }),
  );
  const [goalTool, ...others] = tools.map(({ id }) => id);
  const configured: OpenSessionOptions["tools"] = [{ id: goalTool ?? "", params: { objective } }, ...others];
  const session = await test.runtime.openSession({
    id: "s",
    tools: configured,
    systemRemindersEnabled: true,
  });
  const owned = stack.move();
  return {
    session,
    /** A command and a subagent that end in the background, and what the calls that began them told. */
    async endSomething(name: string): Promise<string> {
      const input = { command: "true", description: name, is_background: true };
      const command = await session.execute("run_terminal_cmd", input, { callId: `${name}-command` });
      const childInput = { prompt: "p", description: "d", task_id: `${name}-child` };
      const child = await session.execute("task", childInput);
      await until(() => runner.children.some(({ run }) => run.id === `${name}-child`));
      for (const child of runner.children) child.end();
      await until(() => !session.isBusy);
      return told(command.result) + told(child.result);
    },
    async look(): Promise<string> {
      const { result } = await session.execute("list_dir", { target_directory: "." });
      return told(result);
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function told(result: Awaited<ReturnType<ToolSession["execute"]>>["result"]): string {
  return result.ok ? result.promptText : result.error.message;
}

describe("the goal of a session", () => {
  it("is active from the beginning", async () => {
    await using opened = await open("ship it");
    expect(await opened.session.state()).toMatchObject({
      state: { "trivium.Goal": { objective: "ship it", status: "active", log: [] } },
    });
  });

  it("keeps ends of background work from the model while it is active, and from then on", async () => {
    await using opened = await open("ship it");
    const early = await opened.endSomething("early");
    expect(early + (await opened.look())).not.toContain("system-reminder");
    await opened.session.execute("update_goal", { completed: true });
    expect(await opened.look()).not.toContain("system-reminder");
    const late = await opened.endSomething("late");
    const text = late + (await opened.look());
    expect(text).toMatch(/Background task [^]*Subagent late-child/);
    expect(text.match(/<system-reminder>/g)).toHaveLength(2);
  });

  it("keeps nothing from the model when there is none", async () => {
    await using opened = await open(null);
    const early = await opened.endSomething("early");
    expect(early + (await opened.look())).toMatch(/Background task [^]*Subagent early-child/);
  });
});
