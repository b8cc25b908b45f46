import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock, TriviumError } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "../../../process/create-command-runner.ts";
import type { ProgramRunner } from "../../../process/program-runner.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { codexGrepFiles } from "./grep-files.ts";

let runner: ProcessRunner;
let dataFolder: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;
let touched: unknown[];

beforeAll(async () => {
  dataFolder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: dataFolder.path });
});

afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await dataFolder[Symbol.asyncDispose]();
});

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => folder[Symbol.asyncDispose]());

/** A machine without ripgrep. */
const noRipgrep: ProgramRunner = {
  run: () => Promise.reject(new TriviumError("notFound", "no program rg")),
};

describe.each(["ripgrep", "built-in"] as const)("Codex:grep_files with the %s engine", (engine) => {
  beforeEach(() => configure({}));

  it("returns the paths of files that match, changed last first", async () => {
    await put({ "a.txt": 1000, "d/b.txt": 2000, "c.txt": 2000, "x.txt": 0 });
    await writeFile(join(folder.path, "x.txt"), "nothing");
    const { output, promptText, truncated } = await search({ pattern: "  hit$ " });
    expect(promptText).toBe(paths("c.txt", "d/b.txt", "a.txt"));
    expect(output).toEqual({ type: "CodexGrepFiles", Matches: { content: promptText, file_count: 3 } });
    expect(truncated).toBe(false);
    expect(touched).toEqual([{ access: "list", path: folder.path }]);
  });

  it("says that there are more", async () => {
    await put({ "a.txt": 1000, "b.txt": 2000, "c.txt": 3000 });
    const { output, promptText, truncated } = await search({ pattern: "hit", limit: "2" });
    expect(promptText).toBe(paths("c.txt", "b.txt"));
    expect(output["Matches"]).toEqual({ content: promptText, file_count: 2, truncated: true });
    expect(truncated).toBe(true);
    const maxOutput = folder.path.length + 10;
    configure({ limits: { maxOutput, maxOutputConfigured: true, maxLinesRead: 1000 } });
    expect((await search({ pattern: "hit" })).output["Matches"]).toMatchObject({
      file_count: 1,
      truncated: true,
    });
  });

  it("searches a folder, a file or the files of a glob, hidden and ignored ones left out", async () => {
    await put({ "d/a.rs": 1, "d/a.ts": 2, "b.rs": 3, ".hidden.rs": 4, "skip.rs": 5 });
    await mkdir(join(folder.path, ".git"));
    await writeFile(join(folder.path, ".gitignore"), "skip.rs\n");
    expect((await search({ pattern: "hit", path: " d " })).promptText).toBe(paths("d/a.ts", "d/a.rs"));
    expect((await search({ pattern: "hit", path: join(folder.path, "d/a.rs") })).promptText).toBe(
      paths("d/a.rs"),
    );
    expect(touched.at(-1)).toEqual({ access: "read", path: join(folder.path, "d/a.rs") });
    expect((await search({ pattern: "hit" })).promptText).toBe(paths("b.rs", "d/a.ts", "d/a.rs"));
    expect((await search({ pattern: "hit", include: " *.ts ", path: "" })).promptText).toBe(paths("d/a.ts"));
  });

  it("takes no match for a success", async () => {
    await put({ "a.txt": 1 });
    const { failure, output, promptText } = await search({ pattern: "zzz" });
    expect(failure).toBeUndefined();
    expect(output).toEqual({ type: "CodexGrepFiles", NoMatches: promptText });
    expect(promptText).toContain("No matches");
    expect((await search({ pattern: "hit", include: "*.none" })).failure).toBeUndefined();
  });

  it.each([
    [{ pattern: " \u00a0 " }, { code: ErrorCode.INVALID_INPUT }, "pattern"],
    [{ pattern: "hit", limit: 0 }, { code: ErrorCode.INVALID_INPUT }, "limit"],
    [{ pattern: "(" }, { code: ErrorCode.INVALID_INPUT, reason: "invalid_pattern" }, "failed"],
    [{ pattern: "hit", path: "nope" }, { code: ErrorCode.FILE_NOT_FOUND }, "nope"],
  ])("refuses %j", async (input, failure, token) => {
    await put({ "a.txt": 1 });
    const result = await search(input);
    expect(result.failure).toMatchObject(failure);
    expect(result.output).toEqual({ type: "CodexGrepFiles", Error: result.promptText });
    expect(result.promptText).toContain(token);
  });

  it("stays inside the roots and, where they are off limits, away from ignored files", async () => {
    await put({ "in/a.log": 1, "out/b.txt": 2 });
    const inside = join(folder.path, "in");
    await mkdir(join(inside, ".git"));
    await writeFile(join(inside, ".gitignore"), "*.log\n");
    await symlink("../out", join(inside, "link"));
    configure({ workingDirectory: inside, workspaceRoots: [inside], sessionFolder: inside });
    const outside = await search({ pattern: "hit", path: "link" });
    expect(outside.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    const settings = { ...defaultToolSettings, respectGitignore: "all" } as const;
    configure({ workingDirectory: inside, sessionDirectory: inside, settings });
    expect((await search({ pattern: "hit", include: "*.log" })).output).toHaveProperty("NoMatches");
    const ignored = await search({ pattern: "hit", path: "a.log" });
    expect(ignored.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "ignored" });
  });

  function configure(overrides: Partial<ToolContext<unknown>>): void {
    touched = [];
    context = toolContext({
      workingDirectory: folder.path,
      programRunner: engine === "ripgrep" ? runner.programs : noRipgrep,
      clock: systemClock,
      touched: (file) => touched.push(file),
      ...overrides,
    });
  }
});

/** Files that match, with the seconds of their last change. */
async function put(files: Readonly<Record<string, number>>): Promise<void> {
  for (const [name, seconds] of Object.entries(files)) {
    const path = join(folder.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "a hit\n");
    await utimes(path, seconds, seconds);
  }
}

function paths(...names: string[]): string {
  return names.map((name) => join(folder.path, name)).join("\n");
}

async function search(input: object): Promise<ToolResult> {
  return await codexGrepFiles.run(input as Parameters<typeof codexGrepFiles.run>[0], context);
}
