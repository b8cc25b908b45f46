import { rmSync, symlinkSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { collectEntries } from "./collect-entries.ts";
import { codexListDir } from "./list-dir.ts";
import { renderEntry } from "./render-entries.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;
let touched: string[];

beforeEach(async () => {
  folder = await temporaryFolder();
  configure({});
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("Codex:list_dir", () => {
  it("lists entries with a mark for their kind, hidden and ignored ones too", async () => {
    await put("a/b/deep.txt", "a/x.txt", ".hidden", "skip.log");
    await writeFile(join(folder.path, ".gitignore"), "*.log\n");
    await symlink("a", join(folder.path, "link"));
    const { output, promptText } = await list({});
    expect(promptText.split("\n")).toEqual([
      `Absolute path: ${folder.path}`,
      ".gitignore",
      ".hidden",
      "a/",
      "  b/",
      "  x.txt",
      "link@",
      "skip.log",
    ]);
    expect(output).toEqual({
      type: "ListDir",
      Content: { content: promptText, absolute_root_path: folder.path },
    });
    expect(touched).toEqual([folder.path]);
  });

  it("sorts by the bytes of whole paths, or keeps each folder with its entries", async () => {
    await put("a/x", "a-b", "a.txt", "é", "z");
    expect(await lines({})).toEqual(["a/", "a-b", "a.txt", "  x", "z", "é"]);
    configure({ params: { sort: "tree" } });
    expect(await lines({})).toEqual(["a/", "  x", "a-b", "a.txt", "z", "é"]);
  });

  it("shows a page and says when there is more", async () => {
    await put("a", "b", "c");
    expect(await lines({ limit: 2 })).toEqual(["a", "b", "More than 2 entries found"]);
    expect(await lines({ offset: 3, limit: 2 })).toEqual(["c"]);
    expect(await lines({ offset: 2, limit: "1" })).toEqual(["b", "More than 1 entries found"]);
    expect(await lines({ limit: 3 })).toEqual(["a", "b", "c"]);
  });

  it("keeps whole lines within a configured size", async () => {
    await put("aaaa", "bbbb", "cccc");
    const maxOutput = folder.path.length + 10;
    configure({ limits: { maxOutput, maxOutputConfigured: true, maxLinesRead: 1000 } });
    expect(await lines({})).toEqual(["aaaa", "bbbb", "More than 2 entries found"]);
    expect((await list({})).truncated).toBe(true);
  });

  it("cuts long names and marks what cannot be read", () => {
    const entry = { path: "d", name: "é".repeat(300), level: 1 };
    expect(renderEntry({ ...entry, kind: "unreadable-folder" })).toBe(`  ${"é".repeat(250)}/!`);
    expect(renderEntry({ ...entry, name: "p", kind: "other" })).toBe("  p?");
  });

  it("stops at the limit of entries", async () => {
    await put("a/x", "b", "c");
    const { signal } = context;
    const request = { path: folder.path, roots: undefined, depth: 2, rules: undefined, signal };
    const { entries, isCapped } = await collectEntries({ ...request, maxEntries: 3 });
    expect(entries.map(({ path }) => path)).toEqual(["a", "b", "c"]);
    expect(isCapped).toBe(true);
    expect((await collectEntries({ ...request, maxEntries: 4 })).isCapped).toBe(false);
  });

  it.each([
    [{ offset: 0 }, "offset"],
    [{ limit: 0 }, "limit"],
    [{ depth: 0 }, "depth"],
    [{ dir_path: "." }, "absolute"],
    [{ offset: 9 }, "offset"],
  ])("refuses %j", async (input, token) => {
    await put("a");
    const { failure, output, promptText } = await list(input);
    expect(failure?.code).toBe(ErrorCode.INVALID_INPUT);
    expect(output).toEqual({ type: "ListDir", Error: promptText });
    expect(promptText).toContain(token);
  });

  it("knows no page of an empty folder", async () => {
    expect((await list({ offset: 9 })).promptText).toBe(`Absolute path: ${folder.path}`);
  });

  it.each([
    ["no folder", "no", { code: ErrorCode.FILE_NOT_FOUND }],
    ["a file", "a", { code: ErrorCode.FILE_NOT_FOUND, reason: "is_a_file" }],
    ["a file as a folder", "a/b", { code: ErrorCode.FILE_NOT_FOUND, reason: "not_a_directory" }],
  ])("refuses %s", async (_what, name, failure) => {
    await put("a");
    const result = await list({ dir_path: join(folder.path, name) });
    expect(result.failure).toMatchObject(failure);
    expect(result.promptText).toContain("directory");
  });

  it("marks a folder that is gone, or a link by now, and goes on", async () => {
    await put("a/x", "b/y", "c/z");
    let folderCount = 0;
    const signal = Object.assign(new AbortController().signal, {
      // Looked at before each folder: the first one is the root.
      throwIfAborted() {
        folderCount += 1;
        if (folderCount !== 2) return;
        rmSync(join(folder.path, "a"), { recursive: true });
        rmSync(join(folder.path, "b"), { recursive: true });
        symlinkSync("c", join(folder.path, "b"));
      },
    });
    configure({ signal });
    expect(await lines({})).toEqual(["a/!", "b/!", "c/", "  z"]);
  });

  it("stays inside the roots and, where they are off limits, away from ignored files", async () => {
    await put("in/.git/HEAD", "in/a.log", "in/b.txt", "in/logs/x.log", "out/secret");
    const inside = join(folder.path, "in");
    await writeFile(join(inside, ".gitignore"), "*.log\nlogs/\n");
    await symlink("../out", join(inside, "link"));
    configure({ workspaceRoots: [inside], sessionFolder: inside, sessionDirectory: inside });
    const outside = await list({ dir_path: join(inside, "link") });
    expect(outside.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    const settings = { ...defaultToolSettings, respectGitignore: "all" } as const;
    configure({ sessionDirectory: inside, settings });
    expect(await lines({ dir_path: inside, depth: 1 })).toEqual([".git/", ".gitignore", "b.txt", "link@"]);
    const ignored = await list({ dir_path: join(inside, "logs") });
    expect(ignored.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "ignored" });
  });
});

function configure(overrides: Partial<ToolContext<unknown>>): void {
  touched = [];
  context = toolContext({
    workingDirectory: folder.path,
    params: { sort: "path" },
    limits: { maxOutput: 400_000, maxOutputConfigured: false, maxLinesRead: 1000 },
    touched: ({ access, path }) => {
      if (access === "list") touched.push(path);
    },
    ...overrides,
  });
}

async function put(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(folder.path, name, ".."), { recursive: true });
    await writeFile(join(folder.path, name), "1");
  }
}

async function list(input: object): Promise<ToolResult> {
  return await codexListDir.run({ dir_path: folder.path, ...input }, context);
}

/** The listing without its first line. */
async function lines(input: object): Promise<string[]> {
  return (await list(input)).promptText.split("\n").slice(1);
}
