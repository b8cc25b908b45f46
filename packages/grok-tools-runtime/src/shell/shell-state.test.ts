import { existsSync } from "node:fs";
import { mkdir, readdir, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ToolSuccess } from "../execute/tool-answer.ts";
import type { JsonObject } from "../json.ts";
import { createCommandRunner, type ProcessRunner } from "../process/create-command-runner.ts";
import { type TestRuntime, testRuntime } from "../testing/test-runtime.ts";
import type { ToolSession } from "../tool-session.ts";
import { getTaskOutput } from "../tools/grok-build/get-task-output/get-task-output.ts";
import { killTask } from "../tools/grok-build/kill-task/kill-task.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
let test: TestRuntime;
let session: ToolSession;

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
    environment: { PATH: process.env["PATH"], HOME: folder.path, SHELL: "/bin/bash" },
  });
  session = await open({ persistent_shell: true });
});

afterEach(() => test[Symbol.asyncDispose]());

describe("a persistent shell", () => {
  it("keeps folder, exported variables, functions, aliases and options", async () => {
    await mkdir(join(test.workspace, "in side"));
    await run(
      `cd "in side"; export GREETING=$'it\\'s\\n"here"'; hello() { echo "$GREETING"; }; shopt -s expand_aliases nullglob; alias hi=hello`,
    );
    const { output, promptText } = await run("pwd; hi; echo *.none; echo $#");
    const directory = join(await realpath(test.workspace), "in side");
    expect(promptText).toBe(`exit: 0\n${directory}\nit's\n"here"\n\n0\n`);
    expect(output["current_dir"]).toBe(directory);
  });

  it("forgets variables that are not exported, and what ends or stops the next command", async () => {
    await run("plain=1; export some_proxy=2 GPG_TTY=3; set -eu -o pipefail; true");
    const { promptText } = await run(
      'echo "[${plain-}${some_proxy-}$GPG_TTY]"; false | true; false; echo "$- on"',
    );
    expect(promptText).toMatch(/^exit: 0\n\[\]\n[^eu]* on\n$/);
  });

  it("keeps the exit code of the command, and the order of its output", async () => {
    expect((await run("echo one; echo two >&2; echo three; false")).promptText).toBe(
      "exit: 1\none\ntwo\nthree\n",
    );
  });

  it.each([
    { how: "exits", command: "cd /; exit 4", begins: "exit: 4" },
    { how: "kills itself", command: "cd /; kill -9 $$", begins: "exit: killed (signal 9)" },
    { how: "takes too long", command: "cd /; sleep 60", timeout: 300, begins: "exit: killed (timeout)" },
  ])("is as before after a command that $how", async ({ command, begins, timeout }) => {
    await run("export STEP=1; mkdir -p sub; cd sub");
    const ended = await run(command, { ...(timeout !== undefined && { timeout }) });
    expect(ended.promptText.startsWith(begins)).toBe(true);
    expect((await run('basename "$PWD"; echo $STEP')).promptText).toBe("exit: 0\nsub\n1\n");
  });

  it("survives a command that spoils builtins, separators and its own file", async () => {
    await run(
      "export IFS=ab; declare() { echo no; }; cd() { echo no; }; printf() { echo no; }; export KEPT=yes",
    );
    expect((await run('echo "$KEPT"')).promptText).toBe("exit: 0\nyes\n");
    const terminal = dirname(textOf((await run("true")).output, "output_file"));
    await run(
      `for f in ${terminal}/*.state; do rm "$f"; mkfifo "$f"; (cat "$f" &) >/dev/null; done; export LOST=1`,
    );
    expect((await run('echo "$KEPT[${LOST-}]"')).promptText).toBe("exit: 0\nyes[]\n");
  });

  it("says that its folder is gone and goes on in that of the session", async () => {
    await run("mkdir gone; cd gone");
    await rm(join(test.workspace, "gone"), { recursive: true });
    const { promptText } = await run("pwd");
    const workspace = await realpath(test.workspace);
    const gone = join(workspace, "gone");
    expect(promptText).toBe(
      `exit: 0\nwarning: the folder ${gone} is gone; running in ${workspace}\n${workspace}\n`,
    );
  });

  it("lends its state to commands in the background, which leave it alone", async () => {
    await run("export STEP=1");
    const { output } = await run('echo "got $STEP"; export STEP=2', { is_background: true });
    const ended = await execute("get_task_output", {
      task_ids: [textOf(output, "task_id")],
      timeout_ms: 20_000,
    });
    expect(ended.output["Result"]).toMatchObject({ output: "got 1\n" });
    expect((await run("echo $STEP")).promptText).toBe("exit: 0\n1\n");
  });

  it("runs one command after the other", async () => {
    const answers = await Promise.all(
      [1, 2, 3].map((step) =>
        run(`STEPS="\${STEPS-}${step}"; sleep 0.0${4 - step}; export STEPS; echo $STEPS`),
      ),
    );
    // Calls made at once may begin in any order; none begins before the one before it is over.
    const steps = answers.map(({ promptText }) => /^exit: 0\n(\d+)\n$/.exec(promptText)?.[1] ?? promptText);
    const [first, second, third] = steps.toSorted((one, other) => one.length - other.length);
    expect(second?.slice(0, -1)).toBe(first);
    expect(third?.slice(0, -1)).toBe(second);
    expect((third ?? "").split("").toSorted()).toEqual(["1", "2", "3"]);
  });

  it("does not wait for a command that was moved to the background", async () => {
    const params = {
      persistent_shell: true,
      auto_background_on_timeout: true,
      foreground_block_budget_ms: 200,
    };
    await session.close();
    session = await open(params, "other");
    const moved = await run("sleep 30; export STEP=1");
    expect(moved.output["type"]).toBe("BackgroundTaskStarted");
    expect((await run("echo next")).promptText).toBe("exit: 0\nnext\n");
  });

  it("leaves no files of single commands", async () => {
    const { output } = await run("true");
    const names = await readdir(dirname(textOf(output, "output_file")));
    expect(names.filter((name) => name.includes("state"))).toEqual([".shell-state"]);
  });

  it.runIf(existsSync("/bin/dash"))("needs bash", async () => {
    await session.close();
    session = await open({ persistent_shell: true, shell: "/bin/dash" }, "other");
    await expect(run("true")).rejects.toThrow("needs bash");
  });
});

describe("memory_limit_bytes", () => {
  it("limits what a process may take", async () => {
    await session.close();
    session = await open({ memory_limit_bytes: 64 * 1024 * 1024 }, "other");
    expect((await run("ulimit -v; kill -TERM $$")).promptText).toBe("exit: killed (signal 15)\n65536\n");
    expect(
      (await run("x=$(head -c 80000000 /dev/zero | tr '\\0' x); echo ${#x}")).output["exit_code"],
    ).not.toBe(0);
  });
});

function open(params: JsonObject, id = "s"): Promise<ToolSession> {
  return test.runtime.openSession({
    id,
    tools: [{ id: "GrokBuild:run_terminal_cmd", params }, "GrokBuild:get_task_output", "GrokBuild:kill_task"],
  });
}

function run(command: string, more: JsonObject = {}): Promise<ToolSuccess> {
  return execute("run_terminal_cmd", { command, description: "t", ...more });
}

async function execute(name: string, input: JsonObject): Promise<ToolSuccess> {
  const { result } = await session.execute(name, input);
  if (!result.ok) throw result.error;
  return result;
}

function textOf(output: ToolSuccess["output"], key: string): string {
  const value = output[key];
  if (typeof value !== "string") throw new Error(`no ${key} in the output`);
  return value;
}
