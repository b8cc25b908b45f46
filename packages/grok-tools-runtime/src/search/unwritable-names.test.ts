import { mkdir, writeFile } from "node:fs/promises";
import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGrokToolsRuntime } from "../grok-tools-runtime.ts";
import { createCommandRunner, type ProcessRunner } from "../process/create-command-runner.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
let workspace: string;

/** Names are bytes; these are not UTF-8. */
const inWorkspace = (name: string): Buffer =>
  Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from(name, "latin1")]);

beforeAll(async () => {
  folder = await temporaryFolder();
  workspace = `${folder.path}/work`;
  runner = await createCommandRunner({ dataFolder: `${folder.path}/processes` });
  await mkdir(inWorkspace("folder\xfe"), { recursive: true });
  for (const name of ["bad\xff.txt", "folder\xfe/in.txt", "good.txt"]) {
    await writeFile(inWorkspace(name), "needle\n");
  }
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe.each([
  ["ripgrep", undefined],
  ["the built-in search", "/nowhere/rg"],
])("names that are not UTF-8, with %s", (engine, rgPath) => {
  it.each([
    ["GrokBuild:list_dir", { target_directory: "." }],
    ["GrokBuild:grep", { pattern: "needle" }],
    ["GrokBuild:grep", { pattern: "needle", output_mode: "count" }],
    ["Codex:list_dir", { dir_path: "" }],
    ["Codex:grep_files", { pattern: "needle" }],
    ["OpenCode:glob", { pattern: "**/*" }],
    ["OpenCode:grep", { pattern: "needle" }],
  ])("are left out by %s %j: nobody could ask for them", async (id, input) => {
    await using runtime = createGrokToolsRuntime({
      workspace,
      dataDir: `${folder.path}/data-${engine.length}`,
      commandRunner: runner,
      programRunner: runner.programs,
      clock: systemClock,
      environment: { PATH: process.env["PATH"] },
      settings: { rgPath },
    });
    await using session = await runtime.openSession({ id: "s", tools: [{ id, nameOverride: "look" }] });
    const absolute = id === "Codex:list_dir" ? { dir_path: workspace } : input;
    const { result } = await session.execute("look", absolute);
    if (!result.ok) throw result.error;
    const shown = result.promptText.replace(/^Absolute path: .*$/m, "");
    expect(shown).toContain("good.txt");
    expect(shown).not.toMatch(/bad|folder|\ufffd/);
  });
});
