import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallOptions } from "../../../execute/call-options.ts";
import type { ToolAnswer } from "../../../execute/tool-answer.ts";
import { createCommandRunner, type ProcessRunner } from "../../../process/create-command-runner.ts";
import { type TestRuntime, testRuntime } from "../../../testing/test-runtime.ts";
import type { ToolSession } from "../../../tool-session.ts";
import { bash } from "./bash.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
let test: TestRuntime;
let session: ToolSession;
beforeAll(async () => {
  folder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: folder.path });
  test = await testRuntime([bash], {
    commandRunner: runner,
    programRunner: runner.programs,
    clock: systemClock,
    environment: { PATH: process.env["PATH"], HOME: folder.path },
  });
  session = await test.runtime.openSession({ id: "bash", tools: ["OpenCode:bash"] });
});
afterAll(async () => {
  await test[Symbol.asyncDispose]();
  await runner[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const run = async (input: object, options: CallOptions = {}): Promise<ToolAnswer["result"]> =>
  (await session.execute("bash", input as never, options)).result;
const prompt = async (input: object): Promise<string> => {
  const result = await run(input);
  return result.ok ? result.promptText : result.error.message;
};

describe("OpenCode:bash", { timeout: 20_000 }, () => {
  it("answers with the output alone, and with the exit code when that matters", async () => {
    expect(await prompt({ command: "printf '\\033[1mhi\\033[0m\\n'; echo err >&2" })).toBe("hi\nerr");
    expect(await prompt({ command: "echo x; exit 3" })).toBe("x\nexit code: 3");
    expect(await prompt({ command: "true" })).toBe("(exit code 0)");
  });

  it("runs in the folder it is given, and in the session's again the next time", async () => {
    await mkdir(join(test.workspace, "d"));
    expect(await run({ command: "pwd", workdir: "d" })).toMatchObject({
      promptText: join(test.workspace, "d"),
      output: { current_dir: join(test.workspace, "d") },
    });
    expect(await prompt({ command: "cd / && x=1; pwd" })).toBe("/");
    expect(await prompt({ command: 'echo "$x$PWD"' })).toBe(test.workspace);
    expect(await run({ command: "pwd", workdir: "nope" })).toMatchObject({
      error: { code: ErrorCode.FILE_NOT_FOUND, details: { field: "workdir" } },
    });
  });

  it("ends at its time-out with what it has written", async () => {
    const result = await run({ command: "echo begun; sleep 30", timeout: 300 });
    expect(result).toMatchObject({
      promptText: "begun\n[ended: timeout]",
      output: { timed_out: true, exit_code: -1 },
    });
    expect(await run({ command: "echo begun; sleep 30" }, { timeoutMs: 300 })).toMatchObject({
      output: { timed_out: true },
    });
  });

  it("names the log when the output is cut", async () => {
    const result = await run({ command: "seq 1 20000" });
    expect(result).toMatchObject({ output: { truncated: true } });
    expect(result.ok && result.promptText).toMatch(/all of it is in .*\.log/);
  });

  it("keeps its folder inside the roots", async () => {
    await using jailed = await testRuntime([bash], { commandRunner: runner, clock: systemClock });
    await mkdir(join(jailed.workspace, "in"));
    const settings = { workspaceRoots: [join(jailed.workspace, "in")] };
    await using other = await testRuntime([bash], {
      ...jailed.options,
      settings: settings as never,
      dataDir: join(jailed.workspace, "data2"),
      workspace: join(jailed.workspace, "in"),
    });
    const limited = await other.runtime.openSession({ id: "x", tools: ["OpenCode:bash"] });
    const { result } = await limited.execute("bash", { command: "pwd", workdir: ".." });
    expect(result).toMatchObject({
      error: { code: ErrorCode.PERMISSION_DENIED, details: { reason: "outside_roots" } },
    });
  });
});
