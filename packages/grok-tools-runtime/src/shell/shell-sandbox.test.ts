import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import type { CommandRunner } from "../process/command-runner.ts";
import { toolContext } from "../testing/tool-context.ts";
import type { ToolContext } from "../tool.ts";
import { type ShellParams, shellParams } from "./shell-params.ts";
import { withSandbox } from "./shell-sandbox.ts";
import { logFolder } from "./task-registry.ts";

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
    const { argv, wrapper } = await withSandbox(["bash"], context);
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

function contextWith(overrides: Partial<ToolContext<unknown>>): ToolContext<ShellParams> {
  const containment = { subreaper: true, cgroup: false, bubblewrap: true, landlock: false, summary: "" };
  const commandRunner: CommandRunner = {
    ...toolContext().commandRunner,
    containment: () => Promise.resolve(containment),
  };
  const params = shellParams.schema.parse({ sandbox: "bwrap" });
  return { ...toolContext({ ...overrides, commandRunner }), params };
}
