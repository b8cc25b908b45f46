import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TouchedFile } from "../../../session-resource.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { openCodeEditParams } from "../edit-params.ts";
import { read } from "../read/read.ts";
import { write } from "../write/write.ts";
import { edit } from "./edit.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let touched: Omit<TouchedFile, "callId">[];
let context: ToolContext<unknown>;

beforeEach(async () => {
  folder = await temporaryFolder();
  touched = [];
  context = contextWith({});
});
afterEach(() => folder[Symbol.asyncDispose]());

describe("OpenCode:edit", () => {
  it("shows the changed lines with three around them, and tells what was written", async () => {
    await put("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    const { promptText, output, concisePromptText } = await run({
      filePath: "f",
      oldString: "5\n",
      newString: "x\ny\n",
    });
    expect(promptText.split("\n").slice(1)).toEqual(["2→2", "3→3", "4→4", "5→x", "6→y", "7→6", "8→7", "9→8"]);
    expect(concisePromptText).not.toContain("→");
    expect(output).toMatchObject({
      EditsApplied: { edits: { details: [{ old_line: 5, new_line: 5, context_before: "2\n3\n4\n" }] } },
    });
    expect(JSON.stringify(output)).not.toContain("match_level");
    const content = { before: "1\n2\n3\n4\n5\n6\n7\n8\n9\n", after: "1\n2\n3\n4\nx\ny\n6\n7\n8\n9\n" };
    expect(touched).toEqual([{ access: "write", path: join(folder.path, "f"), content }]);
  });

  it("counts a file that was empty as new", async () => {
    await put("f", "");
    await run({ filePath: "f", oldString: "", newString: "a" });
    expect(touched).toMatchObject([{ content: { before: null, after: "a" } }]);
  });

  it.each(["off", "full"])("is quick in a file with long runs of blanks, fuzzy: %s", async (fuzzy) => {
    context = contextWith({ fuzzy });
    await put("f", `a${" ".repeat(100_000)}b\n`.repeat(3));
    const started = performance.now();
    const oldString = `c${" ".repeat(100_000)}d\n`;
    expect((await run({ filePath: "f", oldString, newString: "e" })).failure).toMatchObject({
      code: ErrorCode.NO_MATCHES,
    });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("keeps the mode and bytes that are no text", async () => {
    await writeFile(join(folder.path, "f"), Buffer.from([0xff, 0x61, 0x0a, 0xfe]));
    await chmod(join(folder.path, "f"), 0o750);
    await run({ filePath: "f", oldString: "a", newString: "$&$1" });
    expect(await readFile(join(folder.path, "f"))).toEqual(
      Buffer.from([0xff, 0x24, 0x26, 0x24, 0x31, 0x0a, 0xfe]),
    );
    expect((await stat(join(folder.path, "f"))).mode & 0o777).toBe(0o750);
  });

  it("never passes a fuzzy match off as an exact one", async () => {
    await put("f", "if (a) {\n    b();\n}\n");
    context = contextWith({ fuzzy: "safe" });
    const { promptText, output } = await run({ filePath: "f", oldString: "\tb();\n", newString: "\tc();\n" });
    expect(promptText).toContain("line-trimmed");
    expect(output).toMatchObject({
      EditsApplied: { match_level: "line-trimmed", edits: { details: [{ old_string: "    b();\n" }] } },
    });
    expect((await run({ filePath: "f", oldString: "if (a)", newString: "if (b)" })).output).toMatchObject({
      EditsApplied: { match_level: "exact" },
    });
  });

  it("hints at the most similar line when nothing matches", async () => {
    await put("f", "alpha\nconst total = sum(items);\n");
    const { failure } = await run({ filePath: "f", oldString: "const totals = sum(item);", newString: "x" });
    expect(failure).toMatchObject({
      code: ErrorCode.NO_MATCHES,
      lineNumber: 2,
      details: { hint: { line: 2, text: "const total = sum(items);" } },
    });
  });

  it("names parameters as the caller calls them", async () => {
    await put("f", "a a");
    context = { ...context, parameterName: (name) => `my_${name}` };
    expect((await run({ filePath: "f", oldString: "a", newString: "b" })).promptText).toContain(
      "my_replaceAll",
    );
    expect((await run({ filePath: "f", oldString: "", newString: "b" })).promptText).toContain(
      "my_oldString",
    );
    await expect(
      run({ filePath: "f", file_path: "f", oldString: "a", newString: "b" }),
    ).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      message: expect.stringMatching(/my_filePath.*file_path/),
    });
    await expect(run({ file_path: "f", old_string: 1, newString: "b" })).rejects.toMatchObject({
      details: { field: "my_oldString" },
    });
  });

  it("wants the file read first where that is configured", async () => {
    await put("f", "a\n");
    context = contextWith({ require_read: true });
    const input = { filePath: "f", oldString: "a", newString: "b" };
    expect((await run(input)).failure?.code).toBe(ErrorCode.FILE_NOT_READ);
    await read.run({ filePath: "f" }, context);
    await put("f", "a\nmore\n");
    expect((await run(input)).failure?.code).toBe(ErrorCode.FILE_EXTERNALLY_MODIFIED);
    await read.run({ filePath: "f" }, context);
    expect((await run(input)).failure).toBeUndefined();
    expect((await run({ ...input, oldString: "b", newString: "c" })).failure).toBeUndefined();
    expect((await run({ filePath: "new", oldString: "", newString: "c" })).failure).toBeUndefined();
  });

  it("refuses what is outside the roots, ignored where that counts, or no text", async () => {
    await mkdir(join(folder.path, "in"));
    await put("out", "a");
    const jailed = toolContext({ ...context, workspaceRoots: [join(folder.path, "in")] });
    const outside = await edit.run({ filePath: "out", oldString: "a", newString: "b" }, jailed);
    expect(outside.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    await put("nul", "a\0");
    const binary = await run({ filePath: "nul", oldString: "a", newString: "b" });
    expect(binary.failure).toMatchObject({ code: ErrorCode.INVALID_INPUT, reason: "binary" });
    await mkdir(join(folder.path, ".git"));
    await put(".gitignore", "out\n");
    const all = toolContext({ ...context, settings: { ...context.settings, respectGitignore: "all" } });
    const ignored = await edit.run({ filePath: "out", oldString: "a", newString: "b" }, all);
    expect(ignored.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "ignored" });
    expect(await readFile(join(folder.path, "out"), "utf8")).toBe("a");
    expect(touched).toEqual([]);
  });
});

describe("OpenCode:write", () => {
  it("leaves a very long old text out of the answer", async () => {
    await put("f", "x".repeat(256 * 1024 + 1));
    const { output } = await write.run({ file_path: "f", content: "y" }, context);
    expect(output).toMatchObject({ EditsApplied: { old_string_truncated: true } });
    expect(JSON.stringify(output).length).toBeLessThan(2000);
  });

  it("takes the other spelling of its parameter, refuses folders and texts that are too long", async () => {
    expect((await write.run({ filePath: "a/b", content: "y" }, context)).promptText).toContain("created");
    const onFolder = await write.run({ file_path: "a", content: "y" }, context);
    expect(onFolder.failure).toMatchObject({ code: ErrorCode.INVALID_INPUT, reason: "is_a_directory" });
    const long = await write.run({ file_path: "c", content: "x".repeat(10 * 1024 * 1024 + 1) }, context);
    expect(long.failure).toMatchObject({ code: ErrorCode.INVALID_INPUT, reason: "too_large" });
    expect(touched).toHaveLength(1);
  });
});

async function put(path: string, content: string): Promise<void> {
  await writeFile(join(folder.path, path), content);
}

async function run(input: Readonly<Record<string, string | number | boolean>>): Promise<ToolResult> {
  return await edit.run(input, context);
}

function contextWith(params: object): ToolContext<unknown> {
  return toolContext({
    workingDirectory: folder.path,
    params: openCodeEditParams.schema.parse(params),
    touched: (file) => touched.push(file),
  });
}
