import { renameSync, symlinkSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock, TriviumError } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ProgramRunner } from "../process/program-runner.ts";
import { toolContext } from "../testing/tool-context.ts";
import type { ToolResult } from "../tool.ts";
import { grep } from "../tools/grok-build/grep/grep.ts";
import { grepParams } from "../tools/grok-build/grep/grep-schemas.ts";
import { builtInSearch } from "./built-in-search.ts";
import { openSearchRoot } from "./open-search-root.ts";

const programRunner: ProgramRunner = {
  run: () => Promise.reject(new TriviumError("notFound", "no program rg")),
};
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("grep without ripgrep", () => {
  it("lists lines with context by path, as with ripgrep, and says what searched", async () => {
    await put({
      "b/x.txt": "hit\r\n",
      "a.txt": "hit\n1\n2\n3\nHIT\n",
      "a/z.txt": "0\nhit",
      ".hidden": "hit\n",
    });
    const { promptText, output } = await search({ pattern: "hit", "-C": 1, "-i": true });
    expect(promptText.split("\n").slice(1, -2).join("\n")).toBe(
      "Found 4 matching lines\na/z.txt\n1-0\n2:hit\n\na.txt\n1:hit\n2-1\n--\n4-3\n5:HIT\n\nb/x.txt\n1:hit",
    );
    expect(promptText.split("\n").at(-2)).toContain("ripgrep is missing");
    expect(output).toMatchObject({ exit_code: 0, match_count: 4 });
  });

  it.each([
    ["files_with_matches", "Found 2 files\na.ts\nsub/b.ts"],
    ["count", "Found 3 across 2 files\na.ts:2\nsub/b.ts:1"],
  ])("has the mode %s and globs", async (output_mode, body) => {
    await put({ "a.ts": "k\nk\n", "sub/b.ts": "k\n", "c.js": "k\n" });
    const { promptText } = await search({ pattern: "k", output_mode, glob: "*.ts" });
    expect(promptText).toContain(body);
  });

  it("finds matches across lines, in UTF-16 and up to the first NUL of a named file", async () => {
    await put({
      "m.txt": "x\na\nb\nc\n",
      "u.txt": Buffer.from("\ufeffa b\n", "utf16le"),
      "n.bin": "a b\n\0\na b\n",
    });
    expect((await search({ pattern: "a.b", multiline: true })).promptText).toContain(
      "m.txt\n2:a\n3:b\n\nu.txt\n1:a b",
    );
    expect((await search({ pattern: "a b", path: "n.bin" })).output).toMatchObject({ match_count: 1 });
    expect((await search({ pattern: "a.b" })).output).toMatchObject({ match_count: 1 });
  });

  it("obeys ignore rules and limits", async () => {
    await put({ ".git/HEAD": "", ".gitignore": "build/\n", "build/a": "k\n", "b.txt": "k\nk\nk\nk\n" });
    const { promptText, output } = await search({ pattern: "k", head_limit: 3 });
    expect(output).toMatchObject({ match_count: 2 });
    expect(promptText).toContain("at least 2");
  });

  it.each([{ pattern: "(" }, { pattern: "a", type: "ts" }])("refuses %j as a wrong query", async (query) => {
    await put({ "a.txt": "a\n" });
    expect((await search(query)).failure).toMatchObject({ reason: "invalid_pattern" });
  });

  it("ends a pattern that backtracks without end", async () => {
    await put({ "a.txt": `${"a".repeat(60)}b\n` });
    const start = performance.now();
    expect((await search({ pattern: "^(a+)+$" })).failure).toMatchObject({ reason: "invalid_pattern" });
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it("does not follow links", async () => {
    await put({ "in/a.txt": "k\n", "out.txt": "k\n" });
    await symlink("../out.txt", join(folder.path, "in/link.txt"));
    expect((await search({ pattern: "k", path: "in" })).output).toMatchObject({ match_count: 1 });
  });

  it("reads nothing outside the roots when a folder is replaced by a link meanwhile", async () => {
    await put({ "in/sub/a.txt": "k\n", "in/z.txt": "k\n", "out/a.txt": "k outside\n" });
    let count = 0;
    const signal = {
      aborted: false,
      // Asked before each folder and each file.
      throwIfAborted() {
        count += 1;
        if (count !== 2) return;
        renameSync(join(folder.path, "in/sub"), join(folder.path, "moved"));
        symlinkSync("../out", join(folder.path, "in/sub"));
      },
    } as AbortSignal;
    const roots = [join(folder.path, "in")];
    await using root = await openSearchRoot(join(folder.path, "in"), roots);
    const { files } = await builtInSearch({
      query: { pattern: "k", root, obeysGitIgnore: true },
      scope: { programRunner, rgPath: undefined, environment: {}, timeoutMs: 10_000, signal },
      clock: systemClock,
      maxListedLines: 100,
      maxMatches: 100,
      maxLineChars: 100,
      hasContext: false,
    });
    expect(files.map(({ path }) => path)).toEqual(["z.txt"]);
    expect(count).toBeGreaterThan(2);
  });

  it("gives patterns no way out of their text", async () => {
    await put({ "a.txt": "process\n" });
    const { output } = await search({ pattern: "';process.exit();'" });
    expect(output).toMatchObject({ exit_code: 1 });
  });
});

async function put(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
}

function search(input: Record<string, string | number | boolean>): Promise<ToolResult> {
  const params = grepParams.schema.parse({ relative_paths: true });
  const context = toolContext({ workingDirectory: folder.path, params, programRunner, clock: systemClock });
  return grep.run(input, context);
}
