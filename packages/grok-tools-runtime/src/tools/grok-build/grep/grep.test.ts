import { execFileSync } from "node:child_process";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
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
import { grep } from "./grep.ts";
import { grepParams } from "./grep-schemas.ts";

/** Program that makes a named pipe. */
const makePipe = "mkfifo";

let runner: ProcessRunner;
let dataFolder: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;

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
  context = toolContext({
    workingDirectory: folder.path,
    params: grepParams.schema.parse({}),
    programRunner: runner.programs,
    clock: systemClock,
  });
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("GrokBuild:grep", () => {
  it("lists files by path, with blank lines between them and dashes between groups", async () => {
    await put({ "b/x.txt": "hit\n", "a.txt": "hit\n1\n2\n3\nhit\n", "a/z.txt": "0\nhit\n" });
    const { promptText, output } = await search({ pattern: "hit", "-C": 1, relative: true });
    expect(bodyOf(promptText)).toBe(
      "Found 4 matching lines\na/z.txt\n1-0\n2:hit\n\na.txt\n1:hit\n2-1\n--\n4-3\n5:hit\n\nb/x.txt\n1:hit",
    );
    expect(output).toMatchObject({ exit_code: 0, match_count: 4 });
    expect(output["file_matches"]).toMatchObject([
      { path: "a/z.txt", matches: [{ line_number: 2, content: "hit" }] },
      { path: "a.txt", matches: [{ line_number: 1 }, { line_number: 5 }] },
      { path: "b/x.txt" },
    ]);
  });

  it("shows the same beginning every time when there is more than fits", async () => {
    await put(
      Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`d${index % 7}/f${index}.txt`, "hit\nhit\n"]),
      ),
    );
    const first = await search({ pattern: "hit", head_limit: 11 });
    expect(first.promptText).toContain("Found at least 6 matching lines");
    expect(first.truncated).toBe(true);
    expect(bodyOf(first.promptText).split("\n")[1]).toBe(join(folder.path, "d0/f0.txt"));
    for (let round = 0; round < 3; round += 1) {
      expect((await search({ pattern: "hit", head_limit: 11 })).promptText).toBe(first.promptText);
    }
  });

  it.each([
    ["files_with_matches", "Found 2 files\na.txt\nb.txt"],
    ["count", "Found 3 across 2 files\na.txt:2\nb.txt:1"],
  ])("has the mode %s", async (output_mode, body) => {
    await put({ "a.txt": "k\nk\n", "b.txt": "k\n", "c.txt": "no\n" });
    expect(bodyOf((await search({ pattern: "k", output_mode, relative: true })).promptText)).toBe(body);
  });

  it("stops at the number of matches that was asked for", async () => {
    await put({ "a.txt": "k\nx\nk\nk\n" });
    const { output, promptText } = await search({ pattern: "k", match_limit: 2 });
    expect(output).toMatchObject({ match_count: 2 });
    expect(promptText).toContain("at least 2");
  });

  it("does not say that nothing was found when nothing was to be shown", async () => {
    await put({ "a.txt": "k\n" });
    expect((await search({ pattern: "k", head_limit: 0 })).promptText).toContain("at least 0");
  });

  it("counts names and lines that look like output as what they are", async () => {
    await put({ "12:foo": "hit\n10-5:x\n", "7-": "hit\n" });
    const { output } = await search({ pattern: "hit", "-A": 1 });
    expect(output).toMatchObject({ match_count: 2 });
    expect(output["file_matches"]).toHaveLength(2);
  });

  it("cuts long lines once and tells their true length", async () => {
    await put({ "a.txt": `needle${"x".repeat(3000)}\n`, "b.txt": `k${"é".repeat(997)}\n` });
    const { promptText } = await search({ pattern: "needle" });
    expect(promptText).toMatch(/1:needlex{992} \[\.\.\. truncated \(3008 chars total\)\]\n/);
    expect((await search({ pattern: "^k" })).promptText).not.toContain("truncated");
  });

  it("keeps what fits into the bytes and counts the rest", async () => {
    await put({ "a.txt": "hit padding\n".repeat(50) });
    context = toolContext({ ...context, limits: { ...context.limits, maxOutput: 300 } });
    const { promptText, output, truncated } = await search({ pattern: "hit" });
    expect(promptText).toContain("Found 50 matching lines");
    expect(promptText).toMatch(/\.\.\. \[\d+ lines truncated\] \.\.\.\n<\/workspace_result>$/);
    expect(output).toMatchObject({ match_count: 50 });
    expect(truncated).toBe(true);
  });

  it("uses the other engine for look-around and says so, and gives up when that one refuses too", async () => {
    await put({ "a.txt": "foobar\nfoobaz\n" });
    const { promptText, output } = await search({ pattern: "foo(?=bar)" });
    expect(output).toMatchObject({ match_count: 1, exit_code: 0 });
    expect(promptText.split("\n").at(-2)).toContain("PCRE2");
    const { failure } = await search({ pattern: "(?<=a+)b(" });
    expect(failure).toMatchObject({ code: ErrorCode.INVALID_INPUT, reason: "invalid_pattern" });
  });

  it.each([
    { pattern: "(" },
    { pattern: "a", glob: "[" },
    { pattern: "a", type: "nonsense" },
    { pattern: "a\nb" },
  ])("refuses %j as a wrong query", async (query) => {
    await put({ "a.txt": "a\n" });
    const { failure, output, promptText } = await search(query);
    expect(failure).toMatchObject({ code: ErrorCode.INVALID_INPUT, reason: "invalid_pattern" });
    expect(output).toMatchObject({ exit_code: 2, match_count: 0 });
    expect(promptText).toMatch(/^Error calling tool: .*\(exit 2, root: /s);
  });

  it.each([{ glob: "*.zzz" }, { type: "java" }])("finds nothing where %j selects no file", async (filter) => {
    await put({ "a.txt": "a\n" });
    const { promptText, output, failure } = await search({ pattern: "a", ...filter });
    expect(bodyOf(promptText)).toBe("No matches found");
    expect(output).toMatchObject({ exit_code: 1, file_matches: [] });
    expect(failure).toBeUndefined();
  });

  it("ties a glob with a slash to the searched folder", async () => {
    await put({ "p/src/a.ts": "k\n", "p/x/src/b.ts": "k\n" });
    const { output } = await search({ pattern: "k", path: "p", glob: "src/**" });
    expect(output["file_matches"]).toMatchObject([{ path: join(folder.path, "p/src/a.ts") }]);
  });

  it("searches hidden and ignored places that are named, and no others", async () => {
    await put({
      ".git/HEAD": "",
      ".gitignore": "build/\n*.log\n",
      ".hid/a": "k\n",
      "build/a": "k\n",
      "x.log": "k\n",
    });
    for (const path of [".hid", "build", "x.log", ".hid/a"]) {
      expect((await search({ pattern: "k", path })).output).toMatchObject({ match_count: 1 });
    }
    expect((await search({ pattern: "k" })).output).toMatchObject({ match_count: 0 });
    context = toolContext({ ...context, settings: { ...defaultToolSettings, respectGitignore: "off" } });
    expect((await search({ pattern: "k" })).output).toMatchObject({ match_count: 2 });
    context = toolContext({ ...context, settings: { ...defaultToolSettings, respectGitignore: "all" } });
    expect((await search({ pattern: "k", path: "build" })).failure).toMatchObject({ reason: "ignored" });
  });

  it("finds text in UTF-16, in invalid UTF-8 and up to the first NUL", async () => {
    await put({
      "u.txt": Buffer.from("\ufeffneedle one\r\n", "utf16le"),
      "i.txt": Buffer.from("needle \xff\n", "latin1"),
    });
    await put({ "b.bin": "needle\n\0\nneedle\n" });
    const { output, promptText } = await search({ pattern: "needle", relative: true });
    expect(bodyOf(promptText)).toBe("Found 2 matching lines\ni.txt\n1:needle \ufffd\n\nu.txt\n1:needle one");
    expect(output).toMatchObject({ match_count: 2 });
    const named = await search({ pattern: "needle", path: "b.bin" });
    expect(named.output).toMatchObject({ match_count: 1 });
    expect(named.promptText).toContain("NUL");
  });

  it("splits a match across lines into its lines", async () => {
    await put({ "a.txt": "x\r\na\r\nb\r\n" });
    const { promptText } = await search({ pattern: "a.*b", multiline: true });
    expect(promptText).toContain("Found 2 matching lines");
    expect(promptText).toContain("\n2:a\n3:b\n");
  });

  it("refuses paths that are missing, pipes, and outside the roots", async () => {
    await put({ "in/a": "k\n", "out/b": "k\n" });
    execFileSync(makePipe, [join(folder.path, "in/pipe")]);
    await symlink("../out", join(folder.path, "in/door"));
    const limits = { workspaceRoots: [join(folder.path, "in")], sessionFolder: join(folder.path, "session") };
    const missing = await search({ pattern: "k", path: "nope" });
    expect(missing.failure?.code).toBe(ErrorCode.FILE_NOT_FOUND);
    expect(missing.promptText).toContain("does not exist");
    expect((await search({ pattern: "k", path: "in/pipe" })).failure).toMatchObject({
      reason: "not_a_regular_file",
    });
    context = toolContext({ ...context, ...limits });
    expect((await search({ pattern: "k", path: "in/door" })).failure).toMatchObject({
      reason: "outside_roots",
    });
    expect((await search({ pattern: "k", path: "in" })).output["file_matches"]).toMatchObject([
      { path: join(folder.path, "in/a") },
    ]);
  });

  it.each(["sub", "sub/a"])(
    "searches what %s was, although a link to the outside takes its place",
    async (path) => {
      await put({ "in/sub/a": "k inside\n", "out/a": "k outside\n" });
      const programRunner: ProgramRunner = {
        async run(spec) {
          await rename(join(folder.path, "in/sub"), join(folder.path, "in/moved"));
          await symlink("../out", join(folder.path, "in/sub"));
          return await runner.programs.run(spec);
        },
      };
      const workingDirectory = join(folder.path, "in");
      const limits = { workspaceRoots: [workingDirectory], sessionFolder: join(folder.path, "session") };
      context = toolContext({ ...context, ...limits, workingDirectory, programRunner });
      const { promptText } = await search({ pattern: "k", path });
      expect(promptText).toContain("k inside");
      expect(promptText).not.toContain("k outside");
    },
  );

  it("lets a glob bring ignored files back, but not where they are off limits", async () => {
    await put({
      ".git/HEAD": "",
      ".gitignore": "*.env\n",
      "a/x.env": "k\n",
      "b/y.ts": "k\n",
      ".h.ts": "k\n",
    });
    const counts = async (glob: string): Promise<unknown[]> =>
      await Promise.all(
        ["content", "files_with_matches", "count"].map(
          async (output_mode) => (await search({ pattern: "k", glob, output_mode })).output["match_count"],
        ),
      );
    expect(await counts("*.env")).toEqual([1, 1, 1]);
    context = toolContext({ ...context, settings: { ...defaultToolSettings, respectGitignore: "all" } });
    expect(await counts("*.env")).toEqual([0, 0, 0]);
    expect(await counts("*.ts")).toEqual([1, 1, 1]);
    expect(await counts("b/*")).toEqual([1, 1, 1]);
    expect(await counts("!*.ts")).toEqual([0, 0, 0]);
    expect((await search({ pattern: "k", glob: "*.env" })).output).toMatchObject({ exit_code: 1 });
  });

  it("ends the search when its signal aborts", async () => {
    await put({ "a.txt": "k\n" });
    const signal = AbortSignal.abort(new Error("no longer wanted"));
    context = toolContext({ ...context, signal });
    await expect(search({ pattern: "k" })).rejects.toThrow("no longer wanted");
  });

  it("has a text when the helper that starts ripgrep is gone", async () => {
    const programRunner: ProgramRunner = {
      run: () => Promise.reject(new TriviumError("unavailable", "the helper is gone")),
    };
    context = toolContext({ ...context, programRunner });
    const { promptText, output, failure } = await search({ pattern: "k" });
    expect(promptText).toContain("the helper is gone");
    expect(output).toMatchObject({ exit_code: -1 });
    expect(failure?.code).toBe(ErrorCode.EXECUTION_FAILED);
  });

  it("keeps what was found when the time is up or a folder cannot be read", async () => {
    const found =
      '{"type":"begin","data":{"path":{"text":"./a"}}}\n{"type":"match","data":{"lines":{"text":"k\\n"},"line_number":3,"absolute_offset":0}}\n';
    context = toolContext({ ...context, programRunner: programThat({ prints: found, reason: "timed-out" }) });
    const late = await search({ pattern: "k" });
    expect(late.promptText).toContain("3:k\n[the search was ended after 20 seconds]");
    expect(late.truncated).toBe(true);
    const complains = { prints: found, exitCode: 2, stderr: "rg: ./shut: Permission denied (os error 13)\n" };
    context = toolContext({ ...context, programRunner: programThat(complains) });
    const partial = await search({ pattern: "k" });
    expect(partial.output).toMatchObject({ exit_code: 0, match_count: 1 });
    expect(partial.promptText).toContain(
      "[not searched: ./shut: Permission denied (os error 13)]\n</workspace_result>",
    );
    expect(partial.failure).toBeUndefined();
    context = toolContext({ ...context, programRunner: programThat({ reason: "timed-out" }) });
    expect((await search({ pattern: "k" })).failure).toMatchObject({
      code: ErrorCode.TIMEOUT,
      retryable: true,
    });
    context = toolContext({
      ...context,
      programRunner: programThat({ exitCode: 2, stderr: "rg: disk on fire" }),
    });
    expect((await search({ pattern: "k" })).failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED });
  });
});

async function put(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
}

interface SearchInput {
  readonly pattern: string;
  readonly relative?: boolean;
  readonly [key: string]: string | number | boolean | undefined;
}

function search({ relative = false, ...input }: SearchInput): Promise<ToolResult> {
  const params = grepParams.schema.parse({ relative_paths: relative });
  return grep.run(JSON.parse(JSON.stringify(input)), toolContext({ ...context, params }));
}

/** The text between the tags. */
function bodyOf(promptText: string): string {
  return promptText.split("\n").slice(1, -1).join("\n");
}

interface FakeProgram {
  readonly prints?: string;
  readonly reason?: "exited" | "timed-out";
  readonly exitCode?: number;
  readonly stderr?: string;
}

function programThat({
  prints = "",
  reason = "exited",
  exitCode = 0,
  stderr = "",
}: FakeProgram): ProgramRunner {
  const end = {
    reason,
    exitCode: reason === "exited" ? exitCode : null,
    signal: null,
    stderr: Buffer.from(stderr),
    durationMs: 1,
  };
  return {
    run: () =>
      Promise.resolve({
        stdout: (async function* () {
          if (prints !== "") yield Buffer.from(prints);
        })(),
        ended: Promise.resolve(end),
        stop: () => Promise.resolve(end),
      }),
  };
}
