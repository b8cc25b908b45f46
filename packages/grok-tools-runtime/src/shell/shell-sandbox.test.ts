import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { expect, it } from "vitest";
import type { CommandRunner } from "../process/command-runner.ts";
import { toolContext } from "../testing/tool-context.ts";
import type { ToolContext } from "../tool.ts";
import { defaultToolSettings } from "../tool-settings.ts";
import { logFolder } from "./log-folder.ts";
import { type ShellParams, shellParams } from "./shell-params.ts";
import { withSandbox } from "./shell-sandbox.ts";

it("hides the data folder wherever it lies, except the logs of the session", async () => {
  await using folder = await temporaryFolder();
  for (const [data, workspace] of [
    ["ws/data", "ws"],
    ["data", "data/ws"],
    ["data", "ws"],
  ] as const) {
    const dataDir = join(folder.path, data);
    const sessionFolder = join(dataDir, "session");
    const workingDirectory = join(folder.path, workspace);
    await mkdir(logFolder(sessionFolder), { recursive: true });
    await mkdir(workingDirectory, { recursive: true });
    const context = contextWith({ dataDir, sessionFolder, workingDirectory });
    const logPath = join(logFolder(sessionFolder), "c.log");
    const { spec } = await withSandbox(["bash"], { logPath }, context);
    const { argv, wrapper } = spec;
    expect(wrapper).toBe("bwrap");
    const at = (kind: string, path: string): number =>
      argv.findIndex((option, index) => option === kind && argv[index + 1] === path);
    const hidden = at("--tmpfs", dataDir);
    expect(hidden).toBeGreaterThan(at("--tmpfs", "/tmp"));
    expect(at("--ro-bind", logFolder(sessionFolder))).toBeGreaterThan(hidden);
    const writable = at("--bind", workingDirectory);
    expect(writable).toBeGreaterThan(0);
    if (data.startsWith(`${workspace}/`)) expect(hidden).toBeGreaterThan(writable);
    if (workspace.startsWith(`${data}/`)) expect(writable).toBeGreaterThan(hidden);
  }
});

it("leaves the network out unless the server allows it, and follows the server's wish for a sandbox", async () => {
  await using folder = await temporaryFolder();
  await mkdir(logFolder(folder.path), { recursive: true });
  for (const sandboxNetwork of [false, true]) {
    const settings = { ...defaultToolSettings, sandbox: "bwrap", sandboxNetwork } as const;
    const context = contextWith({ workingDirectory: folder.path, settings });
    const params = shellParams.schema.parse({});
    const { spec } = await withSandbox(["zsh"], { logPath: "c.log" }, { ...context, params });
    expect(spec.argv.includes("--unshare-net")).toBe(!sandboxNetwork);
  }
});

it("refuses a command whose sandbox does not work, instead of running it without", async () => {
  await using folder = await temporaryFolder();
  const context = contextWith({ workingDirectory: folder.path });
  const containment = { subreaper: true, cgroup: false, bubblewrap: false, landlock: false, summary: "" };
  const commandRunner = { ...context.commandRunner, containment: () => Promise.resolve(containment) };
  const answer = withSandbox(["bash"], { logPath: "c.log" }, { ...context, commandRunner });
  await expect(answer).rejects.toMatchObject({
    code: ErrorCode.INVALID_INPUT,
    message: expect.stringContaining("bubblewrap"),
  });
});

function contextWith(overrides: Partial<ToolContext<unknown>>): ToolContext<ShellParams> {
  const containment = { subreaper: true, cgroup: false, bubblewrap: true, landlock: false, summary: "" };
  const commandRunner: CommandRunner = {
    ...toolContext().commandRunner,
    containment: () => Promise.resolve(containment),
  };
  const params = shellParams.schema.parse({ sandbox: "bwrap" });
  return { ...toolContext({ ...overrides, commandRunner }), params };
}
