import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { readFile as readFileTool } from "../read-file/read-file.ts";
import { searchReplace } from "./search-replace.ts";
import { searchReplaceParams } from "./search-replace-input.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;

beforeEach(async () => {
  folder = await temporaryFolder();
  context = toolContext({ workingDirectory: folder.path });
  configure({});
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("GrokBuild:search_replace", () => {
  it("tells what it has written, and nothing when it has not", async () => {
    await put("a.txt", "\ufeffone\n");
    await put("empty.txt", "");
    const files: unknown[] = [];
    context = toolContext({ ...context, touched: (file) => files.push(structuredClone(file)) });
    await replace({ old_string: "one", new_string: "two" });
    await replace({ old_string: "one", new_string: "three" });
    await replace({ file_path: "empty.txt", old_string: "", new_string: "x" });
    const at = (name: string): object => ({ access: "write", path: join(folder.path, name) });
    expect(files).toEqual([
      { ...at("a.txt"), content: { before: "one\n", after: "two\n" } },
      { ...at("empty.txt"), content: { before: null, after: "x" } },
    ]);
  });

  it("replaces text and describes the place in the old and the new text", async () => {
    await put("a.txt", "1\n2\nx = 1; x = 2\n4\n5\n6\n7\n");
    const { output, promptText } = await replace({ old_string: "x", new_string: "y\nz", replace_all: true });
    expect(await content()).toBe("1\n2\ny\nz = 1; y\nz = 2\n4\n5\n6\n7\n");
    expect(promptText).toContain("a.txt");
    const common = { old_string: "x", new_string: "y\nz" };
    expect(output["EditsApplied"]).toMatchObject({
      tool_output_for_prompt: promptText,
      absolute_path: join(folder.path, "a.txt"),
      receipt: {
        spans: [
          [4, 5, 7],
          [11, 12, 16],
        ],
        line_ending: "lf",
        encoding: "utf-8",
      },
      edits: {
        details: [
          {
            ...common,
            old_line: 3,
            new_line: 3,
            line_prefix: "",
            context_before: "1\n2\n",
            context_after: "z = 2\n4\n5\n",
          },
          {
            ...common,
            old_line: 3,
            new_line: 4,
            line_prefix: "z = 1; ",
            context_before: "1\n2\ny\n",
            context_after: "4\n5\n6\n",
          },
        ],
      },
    });
  });

  it.each(["$&", "$1", "\\1", "$$", "$`"])("writes %j as it is", async (new_string) => {
    await put("a.txt", "a.c abc\n");
    await replace({ old_string: "a.c", new_string });
    expect(await content()).toBe(`${new_string} abc\n`);
  });

  it("says what it looked for and where the nearest candidate is", async () => {
    await put("a.txt", "foo\nbar_baz qux\n");
    const { failure, promptText, output } = await replace({
      old_string: "  bar_baz  qux\nmore",
      new_string: "z",
    });
    expect(failure).toMatchObject({ code: ErrorCode.NO_MATCHES, lineNumber: 2 });
    expect(promptText).toContain('"  bar_baz  qux"');
    expect(promptText).toContain("\n\nNearest match: line 2: bar_baz qux");
    expect(output).toMatchObject({
      NoMatchesFound: { message: promptText, file_path: join(folder.path, "a.txt") },
    });
  });

  it("keeps the hint at the nearest line short, in whole characters", async () => {
    await put("a.txt", `needle ${"é".repeat(300)}\n`);
    const { promptText } = await replace({ old_string: "needle not", new_string: "z" });
    const hint = promptText.slice(promptText.indexOf("\n\nNearest"));
    expect(Buffer.byteLength(hint)).toBeLessThanOrEqual(200);
    expect(hint).toMatch(/é…$/);
  });

  it("names the lines where typographic characters prevented a match", async () => {
    await put("a.txt", "one\nsay “hi” – now\n");
    const { promptText } = await replace({ old_string: 'say "hi" - now', new_string: "z" });
    expect(promptText).toContain("line 2");
  });

  it("finds typographic characters when asked to, but never a part of one", async () => {
    configure({ unicode_normalized_fallback: true });
    await put("a.txt", "it’s a—b\r\n");
    const { output } = await replace({ old_string: "it's", new_string: "its" });
    expect(output["EditsApplied"]).toMatchObject({ unicode_normalized: true });
    expect((await replace({ old_string: "a-", new_string: "z" })).failure?.code).toBe(
      ErrorCode.MULTIPLE_MATCHES,
    );
    expect(await content()).toBe("its a—b\r\n");
  });

  it("refuses texts that differ in line endings only", async () => {
    await put("a.txt", "a\nb\n");
    const { failure } = await replace({ old_string: "a\nb", new_string: "a\r\nb" });
    expect(failure?.code).toBe(ErrorCode.INVALID_INPUT);
  });

  it("refuses binary files and half characters", async () => {
    await put("a.txt", "a\0b");
    expect((await replace({ old_string: "a", new_string: "b" })).failure).toMatchObject({ reason: "binary" });
    await put("a.txt", "a");
    expect((await replace({ old_string: "a", new_string: "\ud800" })).failure?.code).toBe(
      ErrorCode.INVALID_INPUT,
    );
    expect(await content()).toBe("a");
  });

  it("overwrites with an empty old text only when that was asked for", async () => {
    await put("a.txt", "old\n");
    expect((await replace({ old_string: "", new_string: "new\n" })).failure?.code).toBe(
      ErrorCode.FILE_ALREADY_EXISTS,
    );
    configure({ empty_old_string_does_not_override: false });
    const { promptText } = await replace({ old_string: "", new_string: "new\n" });
    expect(promptText).toContain("overwritten");
    expect(await content()).toBe("new\n");
  });

  it("refuses edits of files that were not read, and of those that changed since", async () => {
    configure({ read_before_edit: "enforce" });
    await put("a.txt", "a\n");
    expect((await replace({ old_string: "a", new_string: "b" })).failure?.code).toBe(ErrorCode.FILE_NOT_READ);
    await readFileTool.run({ target_file: "a.txt" }, context);
    await put("a.txt", "a\nz\n");
    expect((await replace({ old_string: "a", new_string: "b" })).failure?.code).toBe(
      ErrorCode.FILE_EXTERNALLY_MODIFIED,
    );
    await readFileTool.run({ target_file: "a.txt" }, context);
    expect((await replace({ old_string: "a", new_string: "b" })).failure).toBeUndefined();
    expect((await replace({ old_string: "b", new_string: "c" })).failure).toBeUndefined();
  });

  it("warns about unread files without refusing them", async () => {
    configure({ read_before_edit: "warn" });
    await put("a.txt", "a\n");
    const { promptText, output } = await replace({ old_string: "a", new_string: "b" });
    expect(promptText).toContain("Warning: a.txt was not read");
    expect(output["EditsApplied"]).toMatchObject({ tool_output_for_prompt: promptText });
  });

  it("refuses ignored files unless git's rules are off", async () => {
    await mkdir(join(folder.path, ".git"));
    await put(".gitignore", "a.txt\n");
    await put("a.txt", "a\n");
    expect((await replace({ old_string: "a", new_string: "b" })).failure).toMatchObject({
      reason: "ignored",
    });
    context = toolContext({ ...context, settings: { ...defaultToolSettings, respectGitignore: "off" } });
    expect((await replace({ old_string: "a", new_string: "b" })).failure).toBeUndefined();
  });

  it("writes nothing outside the roots", async () => {
    await mkdir(join(folder.path, "in"));
    await mkdir(join(folder.path, "out"));
    await symlink("../out", join(folder.path, "in/door"));
    context = toolContext({
      ...context,
      workingDirectory: join(folder.path, "in"),
      workspaceRoots: [join(folder.path, "in")],
    });
    for (const file_path of ["../out/x", "door/x", "door/deep/x"]) {
      const { failure } = await replace({ file_path, old_string: "", new_string: "x" });
      expect(failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    }
    expect(await readdir(join(folder.path, "out"))).toEqual([]);
  });

  it("calls parameters by the names of the caller", async () => {
    context = toolContext({
      ...context,
      parameterName: (name) => `my_${name}`,
      toolName: (kind) => `my_${kind}`,
    });
    await put("a.txt", "x x\n");
    expect((await replace({ old_string: "x", new_string: "y" })).promptText).toContain("`my_replace_all`");
    expect((await replace({ old_string: "q", new_string: "y" })).promptText).toContain("my_read");
  });
});

function configure(params: Readonly<Record<string, unknown>>): void {
  context = toolContext({ ...context, params: searchReplaceParams.schema.parse(params) });
}

async function put(name: string, text: string): Promise<void> {
  await writeFile(join(folder.path, name), text);
}

function content(): Promise<string> {
  return readFile(join(folder.path, "a.txt"), "utf8");
}

function replace(input: Readonly<Record<string, string | boolean>>): Promise<ToolResult> {
  return searchReplace.run({ file_path: "a.txt", ...input }, context);
}
