import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Of } from "../../../files/edit-engine/splice.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { codexReadFile } from "./read-file.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;
let touched: string[];

beforeEach(async () => {
  folder = await temporaryFolder();
  configure({});
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("Codex:read_file", () => {
  it("numbers the lines of a window and gives the same lines whole", async () => {
    const path = await put(`a\r\n${"é".repeat(300)}\nc\nd\n`);
    const { output, promptText, truncated } = await read({ offset: 2, limit: 2 });
    expect(promptText).toBe(`L2: ${"é".repeat(250)}...\nL3: c`);
    expect(output["FileContent"]).toEqual({
      content: promptText,
      absolute_path: path,
      offset: 2,
      limit: 2,
      raw_output: `${"é".repeat(300)}\nc`,
      total_lines: 4,
      truncated_lines: 1,
    });
    expect(truncated).toBe(true);
    expect(touched).toEqual([path]);
    const saved = JSON.stringify(context.resource(fileReadTracker).save());
    expect(saved).toContain('"ranges":[[2,3]]');
    expect(saved).toContain(sha256Of(Buffer.from(`a\r\n${"é".repeat(300)}\nc\nd\n`)));
  });

  it.each([
    ["an open last line", "a\nb", "L1: a\nL2: b"],
    ["blank lines at the end", "a\n\n\n", "L1: a\nL2: \nL3: "],
    ["a return inside a line", "a\rb\r\nc\r", "L1: a\rb\nL2: c\r"],
    ["a line of exactly 500 bytes", `${"x".repeat(500)}\n`, `L1: ${"x".repeat(500)}`],
    ["a byte order mark", "\ufeffa\n", "L1: a"],
    ["bytes that are no text", Buffer.from([0x61, 0xff, 0x0a]), "L1: a\ufffd"],
    ["UTF-16", Buffer.from("\ufeffé\r\nb", "utf16le"), "L1: é\nL2: b"],
  ])("shows %s", async (_what, content, expected) => {
    await put(content);
    expect((await read({})).promptText).toBe(expected);
  });

  it("ends a window of the last lines without an empty one", async () => {
    await put("a\nb\n");
    expect((await read({ offset: 2, limit: 5 })).promptText).toBe("L2: b");
    expect((await read({ offset: 2, limit: 1 })).promptText).toBe("L2: b");
    await put("a\n\nb\n");
    expect((await read({ limit: 2 })).promptText).toBe("L1: a\nL2: ");
  });

  it("says when there is more than the usual number of lines", async () => {
    await put("x\n".repeat(2001));
    const { promptText, truncated } = await read({});
    expect(promptText).toMatch(/L2000: x\n\[showing lines 1-2000 of 2001\]$/);
    expect(truncated).toBe(true);
    expect((await read({ limit: 2000 })).truncated).toBe(false);
  });

  it("keeps whole lines within a configured size", async () => {
    await put("aaaa\nbbbb\ncccc\n");
    configure({ limits: { maxOutput: 17, maxOutputConfigured: true, maxLinesRead: 1000 } });
    const { promptText, output } = await read({});
    expect(promptText).toBe("L1: aaaa\nL2: bbbb\n[showing lines 1-2 of 3]");
    expect(output["FileContent"]).toMatchObject({ raw_output: "aaaa\nbbbb" });
  });

  it.each([
    [{ offset: 0 }, "offset"],
    [{ limit: 0 }, "limit"],
    [{ file_path: "f.txt" }, "absolute"],
    [{ offset: 3 }, "offset"],
    [{ mode: "indentation", indentation: { anchor_line: 3 } }, "anchor_line"],
    [{ mode: "indentation", indentation: { anchor_line: 0 } }, "anchor_line"],
    [{ mode: "indentation", indentation: { max_lines: 0 } }, "max_lines"],
  ])("refuses %j", async (input, token) => {
    await put("a\nb\n");
    const { failure, output, promptText } = await read(input);
    expect(failure?.code).toBe(ErrorCode.INVALID_INPUT);
    expect(output).toEqual({ type: "ReadFile", FileReadError: promptText });
    expect(promptText).toContain(token);
    expect(touched).toEqual([]);
  });

  it("takes lenient forms and refuses what is no count", async () => {
    await put("a\n  b\n  c\n");
    const indentation = { anchor_line: "2", max_levels: null, include_siblings: "no", include_header: 1 };
    expect((await read({ mode: "indentation", limit: "2.0", indentation })).promptText).toBe(
      "L1: a\nL2:   b",
    );
    await expect(read({ offset: -1 })).rejects.toMatchObject({ code: ErrorCode.INVALID_INPUT });
    await expect(read({ indentation: { max_lines: 1.5 } })).rejects.toMatchObject({
      details: { field: "indentation.max_lines" },
    });
  });

  it.each([
    ["no file", "no.txt", { code: ErrorCode.FILE_NOT_FOUND }],
    ["a folder", ".", { code: ErrorCode.FILE_NOT_FOUND, reason: "is_a_directory" }],
    ["a binary file", "bin", { code: ErrorCode.INVALID_INPUT, reason: "binary" }],
    ["a large file", "large", { code: ErrorCode.INVALID_INPUT, reason: "too_large" }],
    ["a device", "/dev/null", { code: ErrorCode.INVALID_INPUT, reason: "not_a_regular_file" }],
  ])("refuses %s", async (_what, name, failure) => {
    await writeFile(join(folder.path, "bin"), "a\0b");
    await writeFile(join(folder.path, "large"), "x");
    await truncate(join(folder.path, "large"), 50 * 1024 * 1024 + 1);
    const result = await read({ file_path: name.startsWith("/") ? name : join(folder.path, name) });
    expect(result.failure).toMatchObject(failure);
  });

  it("shows an empty file only as a block", async () => {
    await put("");
    expect((await read({})).failure?.code).toBe(ErrorCode.INVALID_INPUT);
    const { promptText, output } = await read({ mode: "indentation" });
    expect(promptText).toBe("File is empty.");
    expect(output["FileContent"]).toMatchObject({ content: "", total_lines: 0 });
  });

  it("shows the block around a line and leaves siblings out", async () => {
    await put(
      "class C:\n\tdef a():\n\t\t1\n\n\t# about b\n\tdef b():\n\t\t2\n\t\t3\n\tdef c():\n\t\t4\n\tdef d():\n\t\t5\n",
    );
    const block = async (indentation: object, limit = 100): Promise<string> =>
      (await read({ mode: "indentation", limit, indentation })).promptText;
    const lines = (text: string): string[] => text.split("\n").map((line) => line.split(":")[0] ?? "");
    expect(lines(await block({ anchor_line: 7, max_levels: 1 }))).toEqual([
      "L3",
      "L4",
      "L5",
      "L6",
      "L7",
      "L8",
      "L9",
      "L10",
    ]);
    expect(lines(await block({ anchor_line: 7, max_levels: 1, include_header: false }))).toEqual([
      "L6",
      "L7",
      "L8",
      "L9",
      "L10",
    ]);
    expect(lines(await block({ anchor_line: 7, max_levels: 1, include_siblings: true }))).toEqual([
      "L2",
      "L3",
      "L4",
      "L5",
      "L6",
      "L7",
      "L8",
      "L9",
      "L10",
      "L11",
      "L12",
    ]);
    expect(lines(await block({ anchor_line: 7 }, 4))).toEqual(["L5", "L6", "L7", "L8"]);
    expect(lines(await block({ anchor_line: 4, max_lines: 1 }))).toEqual(["L4"]);
    expect((await read({ mode: "indentation", offset: 3, limit: 1 })).promptText).toBe("L3: \t\t1");
  });

  it("stays inside the roots and, where they are off limits, away from ignored files", async () => {
    const inside = join(folder.path, "in");
    await mkdir(join(inside, ".git"), { recursive: true });
    await writeFile(join(inside, ".gitignore"), "f.log\n");
    await writeFile(join(inside, "f.log"), "x\n");
    await put("secret\n");
    await symlink("../f.txt", join(inside, "link.txt"));
    configure({ workspaceRoots: [inside], sessionFolder: inside, sessionDirectory: inside });
    const outside = await read({ file_path: join(inside, "link.txt") });
    expect(outside.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    configure({ sessionDirectory: inside, settings: { ...defaultToolSettings, respectGitignore: "all" } });
    const ignored = await read({ file_path: join(inside, "f.log") });
    expect(ignored.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "ignored" });
  });
});

function configure(overrides: Partial<ToolContext<unknown>>): void {
  touched = [];
  context = toolContext({
    workingDirectory: folder.path,
    touched: ({ access, path }) => {
      if (access === "read") touched.push(path);
    },
    ...overrides,
  });
}

async function put(content: string | Uint8Array): Promise<string> {
  const path = join(folder.path, "f.txt");
  await writeFile(path, content);
  return path;
}

async function read(input: object): Promise<ToolResult> {
  return await codexReadFile.run({ file_path: join(folder.path, "f.txt"), ...input }, context);
}
