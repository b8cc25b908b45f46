import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "../../process/create-command-runner.ts";
import { toolContext } from "../../testing/tool-context.ts";
import type { ToolContext } from "../../tool.ts";
import { defaultToolSettings } from "../../tool-settings.ts";
import { glob } from "./glob/glob.ts";
import { grep } from "./grep/grep.ts";

let runner: ProcessRunner;
let dataFolder: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let touched: string[];

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
  touched = [];
});
afterEach(() => folder[Symbol.asyncDispose]());

const engines = [
  ["ripgrep", undefined],
  ["the built-in engine", "/nowhere/rg"],
] as const;

describe.each(engines)("OpenCode:grep with %s", (_, rgPath) => {
  it("groups by file, newest first, with hidden files and without .git", async () => {
    await put("old.txt", "hit\n-\nhit\n", 1000);
    await put(".new|x", "hit\n", 2000);
    await put(".git/config", "hit\n", 3000);
    const { promptText, output } = await grep.run({ pattern: "hit" }, contextFor(rgPath));
    expect(promptText).toBe(
      [
        "Found 3 matches",
        `${join(folder.path, ".new|x")}:`,
        "  Line 1: hit",
        "",
        `${join(folder.path, "old.txt")}:`,
        "  Line 1: hit",
        "  Line 3: hit",
      ].join("\n"),
    );
    expect(output).toMatchObject({ match_count: 3, exit_code: 0 });
    expect(touched).toEqual([`list ${folder.path}`]);
  });

  it("shows 100 lines, counts the others and cuts long ones between characters", async () => {
    await put("a", `${"é".repeat(1200)}\n${"é\n".repeat(120)}`, 1000);
    const { promptText, output, truncated } = await grep.run({ pattern: "é" }, contextFor(rgPath));
    expect(promptText).toMatch(/^Found 121 matches/);
    expect(promptText).toContain(`  Line 1: ${"é".repeat(1000)}...\n`);
    expect(promptText).not.toContain("Line 101:");
    expect(output["file_matches"]).toMatchObject([{ matches: { length: 100 } }]);
    expect(truncated).toBe(true);
  });

  it("never looks into .git, whatever the glob", async () => {
    await put(".git/a.rs", "hit\n", 1000);
    const { promptText } = await grep.run({ pattern: "hit", include: "*.rs" }, contextFor(rgPath));
    expect(promptText).toBe("No files found");
  });
});

describe.each(engines)("OpenCode:glob with %s", (_, rgPath) => {
  it("lists ignored files that match, but not those of ignored folders", async () => {
    await put(".git/HEAD.ts", "", 1000);
    await put(".gitignore", "gen.ts\nbuild/\n", 1000);
    await put("gen.ts", "", 2000);
    await put("build/out.ts", "", 3000);
    await put("src/a.ts", "", 4000);
    const { output } = await glob.run({ pattern: "*.ts" }, contextFor(rgPath));
    expect(output["entries"]).toEqual([join(folder.path, "src/a.ts"), join(folder.path, "gen.ts")]);
    const strict = await glob.run({ pattern: "*.ts" }, contextFor(rgPath, "all"));
    expect(strict.output["entries"]).toEqual([join(folder.path, "src/a.ts")]);
  });

  it("sorts all before it cuts", async () => {
    await Promise.all(Array.from({ length: 120 }, (_unused, index) => put(`f${index}.md`, "", 1000 + index)));
    const { output, promptText } = await glob.run({ pattern: "**/*.md" }, contextFor(rgPath));
    expect(output).toMatchObject({ count: 100, total_count: 120, truncated: true });
    expect((output["entries"] as string[])[0]).toBe(join(folder.path, "f119.md"));
    expect(promptText).toMatch(/truncated.*100/);
  });

  it("splits a pattern that is an absolute path", async () => {
    await put("a/b.ts", "", 1000);
    await put("a/c/b.ts", "", 1000);
    const { output } = await glob.run(
      { pattern: join(folder.path, "a/*.ts"), path: "nope" },
      contextFor(rgPath),
    );
    expect(output["entries"]).toEqual([join(folder.path, "a/b.ts")]);
  });
});

describe("OpenCode:glob", () => {
  it("refuses a wrong glob, a file in place of a folder, and what is outside the roots", async () => {
    await put("f", "", 1000);
    expect((await glob.run({ pattern: "{a" }, contextFor())).failure).toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      reason: "invalid_pattern",
    });
    expect((await glob.run({ pattern: "*", path: "f" }, contextFor())).failure?.code).toBe(
      ErrorCode.FILE_NOT_FOUND,
    );
    await mkdir(join(folder.path, "in"));
    await symlink("..", join(folder.path, "in/up"));
    const jailed = toolContext({
      ...contextFor(),
      workspaceRoots: [join(folder.path, "in")],
      sessionFolder: "/nowhere",
    });
    for (const path of ["in/up", ".."]) {
      expect((await glob.run({ pattern: "*", path }, jailed)).failure).toMatchObject({
        reason: "outside_roots",
      });
    }
    expect(touched).toEqual([]);
  });
});

async function put(path: string, content: string, mtime: number): Promise<void> {
  await mkdir(dirname(join(folder.path, path)), { recursive: true });
  await writeFile(join(folder.path, path), content);
  await utimes(join(folder.path, path), mtime, mtime);
}

function contextFor(
  rgPath?: string,
  respectGitignore: "upstream" | "all" = "upstream",
): ToolContext<unknown> {
  return toolContext({
    workingDirectory: folder.path,
    programRunner: runner.programs,
    environment: { PATH: process.env["PATH"], HOME: folder.path },
    settings: { ...defaultToolSettings, rgPath, respectGitignore },
    touched: ({ access, path }) => touched.push(`${access} ${path}`),
  });
}
