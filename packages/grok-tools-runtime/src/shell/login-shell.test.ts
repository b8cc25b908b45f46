import { readFile, writeFile } from "node:fs/promises";
import { randomIds, silentLogger, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "../process/create-command-runner.ts";
import { testRuntime } from "../testing/test-runtime.ts";
import { getTaskOutput } from "../tools/grok-build/get-task-output/get-task-output.ts";
import { killTask } from "../tools/grok-build/kill-task/kill-task.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";
import { LoginShells } from "./login-shell.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
beforeAll(async () => {
  folder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: `${folder.path}/processes` });
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const profile = `echo "a profile that talks"
echo run >> "$HOME/runs"
export FLAVOUR='sweet and "sour"' SOME_TOKEN=secret SSH_AUTH_SOCK=/gone LANG=of-the-profile
export PATH="$HOME/own:$PATH"
export LINES_OF='one
two'
alias shout='printf "%s\\n" LOUD'
greet() { echo "hello $1"; }
`;

/** A session whose user has a profile. */
async function open(text: string, params: object = {}, loginShell = true) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await temporaryFolder());
  await writeFile(`${home.path}/.bash_profile`, text);
  const test = stack.use(
    await testRuntime([runTerminalCmd, getTaskOutput, killTask], {
      commandRunner: runner,
      programRunner: runner.programs,
      clock: systemClock,
      environment: { PATH: "/usr/bin:/bin", HOME: home.path, SHELL: "/bin/bash", LANG: "C" },
      settings: { loginShell },
    }),
  );
  const shell = { id: "GrokBuild:run_terminal_cmd", params };
  const tools = [shell, "GrokBuild:get_task_output", "GrokBuild:kill_task"] as const;
  const session = await test.runtime.openSession({ id: "s", tools: tools as never });
  const owned = stack.move();
  return {
    home: home.path,
    async run(command: string): Promise<string> {
      const { result } = await session.execute("run_terminal_cmd", { command, description: "t" });
      if (!result.ok) throw result.error;
      return result.promptText.replace("exit: 0\n", "");
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe("the profile of the user", () => {
  it("is read once for a session, and says nothing into its commands", async () => {
    await using session = await open(profile);
    const both = await Promise.all([session.run("echo one"), session.run("echo two")]);
    expect(both).toEqual(["one\n", "two\n"]);
    expect(await session.run("echo three")).toBe("three\n");
    expect(await readFile(`${session.home}/runs`, "utf8")).toBe("run\n");
  });

  it("adds variables that are no secrets, and what is looked for first", async () => {
    await using session = await open(profile);
    expect(await session.run('echo "$FLAVOUR|$SOME_TOKEN|$SSH_AUTH_SOCK|$LANG|$LINES_OF|$TERM"')).toBe(
      'sweet and "sour"|||C|one\ntwo|dumb\n',
    );
    const path = (await session.run('echo "$PATH"')).trim().split(":");
    expect(path[0]).toBe(`${session.home}/own`);
    expect(new Set(path).size).toBe(path.length);
    expect(path).toContain("/usr/bin");
  });

  it("is what the profile sets, not what the first command happened to have", async () => {
    await using home = await temporaryFolder();
    await writeFile(`${home.path}/.bash_profile`, 'export FLAVOUR=sweet ADDED="$BASE:more"');
    const { signal } = new AbortController();
    const place = { sessionDirectory: home.path, sessionFolder: home.path, sessionSignal: signal };
    const ports = { programRunner: runner.programs, ids: randomIds, logger: silentLogger };
    const shells = new LoginShells({ ...ports, ...place });
    const env = { PATH: "/usr/bin:/bin", HOME: home.path, BASE: "base", ONLY_FOR_ONE_TOOL: "x" };
    const { variables } = await shells.state("/bin/bash", { env, signal });
    // Where the system's profile sets a search path it is one of them.
    const { PATH: _path, ...others } = variables;
    expect(others).toEqual({ FLAVOUR: "sweet", ADDED: "base:more" });
  });

  it("adds functions and aliases, for a shell that remembers too", async () => {
    for (const params of [{}, { persistent_shell: true }]) {
      await using session = await open(profile, params);
      expect(await session.run("greet you; shout")).toBe("hello you\nLOUD\n");
      expect(await session.run("greet again")).toBe("hello again\n");
      expect(await session.run("true; (exit 3) || echo $?, $#")).toBe("3, 0\n");
    }
  });

  it("is done without when it ends the shell, and not looked at unless the server is to", async () => {
    await using broken = await open("exit 7");
    expect(await broken.run("echo on")).toBe("on\n");
    await using plain = await open(profile, {}, false);
    expect(await plain.run('echo "$FLAVOUR."')).toBe(".\n");
  });
});
