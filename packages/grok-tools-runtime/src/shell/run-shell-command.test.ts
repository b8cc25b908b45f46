import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import type { Command, CommandRunner, CommandSpec } from "../process/command-runner.ts";
import { noOutput } from "../process/command-stream.ts";
import { toolContext } from "../testing/tool-context.ts";
import type { ToolContext } from "../tool.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";
import { shellParams } from "./shell-params.ts";
import { taskRegistry } from "./task-registry.ts";

it("ends a background command whose call is cancelled before its id is known", async () => {
  const controller = new AbortController();
  const calls: string[] = [];
  await using test = await contextWith({ signal: controller.signal }, () => {
    controller.abort(new Error("no longer wanted"));
    return runningCommand(calls);
  });
  const answer = runTerminalCmd.run(
    { command: "sleep 60", description: "t", is_background: true },
    test.context,
  );
  await expect(answer).rejects.toThrow("no longer wanted");
  expect(calls).toEqual(["kill cancelled", "release"]);
  expect(test.context.resource(taskRegistry).list()).toEqual([]);
});

it("lets the wait for a place count towards the deadline of the call, but not towards a time-out of the input", async () => {
  const specs: CommandSpec[] = [];
  await using test = await contextWith({ timeoutMs: 4000 }, (spec) => {
    specs.push(spec);
    throw new Error("enough");
  });
  for (const more of [{}, { timeout: 4000 }, { is_background: true }]) {
    const answer = runTerminalCmd.run({ command: "true", description: "t", ...more }, test.context);
    await expect(answer).rejects.toThrow("enough");
  }
  expect(specs.map(({ countsWaiting }) => countsWaiting)).toEqual([true, false, false]);
});

async function contextWith(
  overrides: Partial<ToolContext<unknown>>,
  start: (spec: CommandSpec) => Command,
): Promise<{ context: ToolContext<unknown> } & AsyncDisposable> {
  const folder = await temporaryFolder();
  const commandRunner: CommandRunner = {
    ...toolContext().commandRunner,
    start: (spec) => Promise.resolve(spec).then(start),
  };
  const context = toolContext({
    ...overrides,
    commandRunner,
    workingDirectory: folder.path,
    params: shellParams.schema.parse({}),
  });
  return { context, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

function runningCommand(calls: string[]): Command {
  const never = new Promise<never>(() => {});
  const command = {
    status: "running",
    startedAtMs: 0,
    ended: never,
    vacated: never,
    output: () => Promise.resolve(noOutput()),
    kill: (reason: string) => {
      calls.push(`kill ${reason}`);
      return Promise.resolve({ reason, exitCode: null, signal: null, survivors: [], leftovers: [] });
    },
    release: () => Promise.resolve(void calls.push("release")),
  };
  return command as unknown as Command;
}
