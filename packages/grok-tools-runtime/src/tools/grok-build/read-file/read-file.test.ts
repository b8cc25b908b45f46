import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, existsSync, readFileSync } from "node:fs";
import { mkdir, open, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import type { JsonObject } from "../../../json.ts";
import { samplePdf } from "../../../pdf/testing/sample-pdf.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import { until } from "../../../testing/until.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { readFile } from "./read-file.ts";

/** Program that makes a named pipe. */
const makePipe = "mkfifo";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;

beforeEach(async () => {
  folder = await temporaryFolder();
  context = toolContext({ workingDirectory: folder.path });
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("GrokBuild:read_file", () => {
  it("tells what it has read", async () => {
    await put("a.txt", "a");
    const files: unknown[] = [];
    context = toolContext({ ...context, touched: (file) => files.push(file) });
    await read("a.txt");
    await read("nothing.txt");
    expect(files).toEqual([{ access: "read", path: join(folder.path, "a.txt") }]);
  });

  it("numbers the first line and every tenth", async () => {
    await put("a.txt", Array.from({ length: 12 }, (_, index) => `r${index + 1}\n`).join(""));
    const { output, promptText } = await read("a.txt", { offset: 2 });
    expect(promptText).toBe("2→r2\nr3\nr4\nr5\nr6\nr7\nr8\nr9\n10→r10\nr11\nr12\n");
    expect(output).toMatchObject({
      FileContent: { content: promptText, content_concise: promptText, offset: 2, total_lines: 13 },
    });
  });

  it.each([
    { window: { offset: -1 }, content: "4→", raw_output: "", offset: null },
    { window: { offset: -2 }, content: "3→c\n", raw_output: "c\n", offset: null },
    { window: { offset: 0, limit: 1 }, content: "1→a", raw_output: "a\n", offset: 0 },
    { window: { offset: 2, limit: 9 }, content: "2→b\nc\n", raw_output: "b\nc\n", offset: 2 },
  ])("reads the window $window", async ({ window, ...expected }) => {
    await put("a.txt", "a\nb\nc\n");
    expect((await read("a.txt", window)).output).toMatchObject({ FileContent: expected });
  });

  it.runIf(existsSync("/proc/self/status"))("reads files that the kernel makes up", async () => {
    const { promptText } = await read("/proc/self/status", { limit: 1 });
    expect(promptText).toMatch(/^1→Name:/);
  });

  it("says that it stopped at the cap of lines, and is silent about the caller's own limit", async () => {
    await put("a.txt", "x\n".repeat(20));
    context = toolContext({ ...context, limits: { ...context.limits, maxLinesRead: 5 } });
    const capped = await read("a.txt", { offset: 3 });
    expect(capped.promptText).toContain("\n[showing lines 3-7 of 21]");
    expect(capped.truncated).toBe(true);
    const limited = await read("a.txt", { limit: 5 });
    expect(limited.promptText).not.toContain("[showing");
    expect(limited.truncated).toBe(false);
  });

  it.each([
    ["utf-16le", Buffer.from("\ufeffhé\r\nb", "utf16le")],
    ["utf-16be", Buffer.from("\ufeffhé\r\nb", "utf16le").swap16()],
  ])("decodes %s by its byte order mark", async (encoding, bytes) => {
    await put("u.txt", bytes);
    const { output } = await read("u.txt");
    expect(output).toMatchObject({
      FileContent: { content: "1→hé\nb", raw_output: "hé\r\nb", encoding, had_bom: true, total_lines: 2 },
    });
  });

  it("refuses what is no regular file without touching it", async () => {
    execFileSync(makePipe, [join(folder.path, "pipe")]);
    for (const path of ["pipe", "/dev/zero"]) {
      const { failure, output } = await read(path);
      expect(failure).toMatchObject({ code: ErrorCode.INVALID_INPUT, reason: "not_a_regular_file" });
      expect(output).toHaveProperty("FileReadError");
    }
  });

  it("names similar files beside a missing one", async () => {
    await put("settings.json", "{}");
    const { promptText, failure } = await read("settings.jsn");
    expect(promptText).toContain("does not exist");
    expect(promptText).toContain(join(folder.path, "settings.json"));
    expect(failure).toMatchObject({
      code: ErrorCode.FILE_NOT_FOUND,
      filePath: join(folder.path, "settings.jsn"),
    });
  });

  it("refuses paths outside the roots, also through a link, and not those inside", async () => {
    await mkdir(join(folder.path, "in"));
    await put("secret.txt", "s");
    await put("in/a.txt", "a");
    await symlink("../secret.txt", join(folder.path, "in/link.txt"));
    context = toolContext({
      workingDirectory: join(folder.path, "in"),
      workspaceRoots: [join(folder.path, "in")],
      sessionFolder: join(folder.path, "session"),
    });
    for (const path of ["../secret.txt", join(folder.path, "secret.txt"), "link.txt", "../nothing.txt"]) {
      const { failure } = await read(path);
      expect(failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    }
    expect((await read("a.txt")).failure).toBeUndefined();
  });

  it("refuses ignored files only when every tool has to", async () => {
    await mkdir(join(folder.path, ".git"));
    await put(".gitignore", "*.log\n");
    await put("a.log", "text");
    expect((await read("a.log")).failure).toBeUndefined();
    context = toolContext({ ...context, settings: { ...defaultToolSettings, respectGitignore: "all" } });
    expect((await read("a.log")).failure).toMatchObject({
      code: ErrorCode.PERMISSION_DENIED,
      reason: "ignored",
    });
  });

  it("hands on a complete small picture, whatever its name, and refuses a large one", async () => {
    await put("a.txt", png(20, 10));
    const { output, imageCount } = await read("a.txt");
    expect(output).toMatchObject({
      ImageContent: { mime_type: "image/png", data: png(20, 10).toString("base64") },
    });
    expect(imageCount).toBe(1);
    for (const bytes of [png(3000, 10), png(20, 10).subarray(0, 40)]) {
      await put("b.png", bytes);
      const { failure, output: refused } = await read("b.png");
      expect(refused).toHaveProperty("ImageSizeError");
      expect(failure).toMatchObject({ code: ErrorCode.INVALID_INPUT, reason: "too_large" });
    }
  });

  it("takes embedded pictures out of the text", async () => {
    const data = Buffer.alloc(1500, 7).toString("base64");
    await put("a.md", `![x](data:image/png;base64,${data}) end\n`);
    const { output, promptText } = await read("a.md");
    expect(promptText).toBe("1→![x]([image content will be provided separately]) end\n");
    expect(output).toMatchObject({ FileContent: { extracted_images: [{ data, mime_type: "image/png" }] } });
  });

  it("extracts the text of slides and their notes, in the order of their numbers", async () => {
    await put(
      "s.pptx",
      zip({
        "ppt/slides/slide10.xml": "<a:p><a:r><a:t>ten</a:t></a:r></a:p>",
        "ppt/slides/slide2.xml": "<a:p><a:t>two &amp; </a:t><a:t>more</a:t></a:p><a:p/>",
        "ppt/notesSlides/notesSlide2.xml": "<a:p><a:t>say &#104;i</a:t></a:p>",
      }),
    );
    const { promptText, output } = await read("s.pptx");
    expect(promptText).toBe(
      "1→--- Slide 2 ---\n2→two & more\n3→\n4→Speaker Notes:\n5→say hi\n6→\n7→--- Slide 10 ---\n8→ten",
    );
    expect(output["FileContent"]).not.toHaveProperty("content_concise");
  });

  it("bounds what a presentation unpacks to, slides and parts together", async () => {
    const blank = " ".repeat(24 * 1024 * 1024);
    const slides = [1, 2, 3].map((number) => [`ppt/slides/slide${number}.xml`, blank]);
    await put("large.pptx", zip(Object.fromEntries(slides)));
    expect(await read("large.pptx")).toMatchObject({
      promptText: expect.stringContaining("slide3.xml is too large"),
      failure: { reason: "too_large" },
    });
    const parts = Array.from({ length: 20_001 }, (_, index) => [`ppt/${index}`, ""]);
    await put("many.pptx", zip(Object.fromEntries([["ppt/slides/slide1.xml", ""], ...parts])));
    expect(await read("many.pptx")).toMatchObject({ failure: { reason: "too_large" } });
  });

  it("does not disturb the writer of a pipe", async () => {
    const path = join(folder.path, "pipe");
    execFileSync(makePipe, [path]);
    const writer = spawn("sh", ["-c", 'echo said > "$0"', path], { stdio: "ignore" });
    const ended = once(writer, "exit");
    // Asleep: it waits for a reader.
    await until(() => readFileSync(`/proc/${writer.pid}/stat`, "utf8").includes(") S "));
    expect(await read("pipe")).toMatchObject({ failure: { reason: "not_a_regular_file" } });
    await using reader = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
    await ended;
    const { bytesRead } = await reader.read(Buffer.alloc(10), 0, 10);
    expect(bytesRead).toBe(5);
  });

  it("shows pages of a PDF document, whatever its name", async () => {
    const document = samplePdf(Array.from({ length: 12 }, () => ({})));
    await put("a.txt", document);
    const { output, promptText, imageCount } = await read("a.txt", { pages: "3,1" });
    const picture = { data: expect.stringMatching(/^\/9j\//), mime_type: "image/jpeg" };
    expect(output["PdfPageImages"]).toEqual({
      pages: [
        { ...picture, page_number: 1 },
        { ...picture, page_number: 3 },
      ],
      total_pages: 12,
      file_size: document.length,
    });
    const sizeKb = (document.length / 1024).toFixed(1);
    expect(promptText).toBe(`[PDF: 2 pages shown (1, 3) of 12, ${sizeKb} KB]`);
    expect(imageCount).toBe(2);
  });

  it("returns the text of a PDF document with a number before every line", async () => {
    const path = await put("a.pdf", samplePdf([{ lines: ["Hello", "world"] }, { lines: ["end"] }]));
    const { output, promptText } = await read("a.pdf", { format: "text" });
    expect(promptText).toBe("1→--- Page 1 ---\n2→Hello\n3→world\n4→--- Page 2 ---\n5→end");
    expect(output["FileContent"]).toEqual({
      content: promptText,
      absolute_path: path,
      offset: null,
      raw_output: "--- Page 1 ---\nHello\nworld\n--- Page 2 ---\nend",
      total_lines: 5,
    });
  });

  it.each<{ input: JsonObject; says: string }>([
    { input: {}, says: "12 pages" },
    { input: { pages: "13" }, says: "pages 1 to 12" },
    { input: { format: "html" }, says: "html" },
  ])("refuses $input of a PDF document with twelve pages", async ({ input, says }) => {
    await put("a.pdf", samplePdf(Array.from({ length: 12 }, () => ({}))));
    expect(await read("a.pdf", input)).toMatchObject({
      output: { FileReadError: expect.stringContaining(says) },
      failure: { code: ErrorCode.INVALID_INPUT, reason: undefined },
    });
  });

  it("says that a PDF document is damaged", async () => {
    await put("a.pdf", "%PDF-1.4\n");
    expect(await read("a.pdf")).toMatchObject({
      output: { FileReadError: expect.stringContaining("damaged") },
      failure: { code: ErrorCode.INVALID_INPUT, reason: "corrupt" },
    });
  });

  it("remembers what was read for later edits", async () => {
    const path = await put("a.txt", "a\nb\nc\nd\n");
    await read("a.txt", { limit: 1 });
    await read("a.txt", { offset: 2, limit: 2 });
    expect(context.resource(fileReadTracker).save()).toMatchObject({
      files: { [path]: { size: 8, ranges: [[1, 3]] } },
    });
  });

  it("knows one text for every failure in the legacy version, and the same codes", async () => {
    context = toolContext({ ...context, behaviorVersion: "legacy-0.4.10" });
    await put("b.txt", "a\0b");
    expect(await read("b.txt")).toEqual({
      output: { type: "ReadFile", FileReadError: `Failed to read file: ${join(folder.path, "b.txt")}` },
      promptText: `Failed to read file: ${join(folder.path, "b.txt")}`,
      failure: { code: ErrorCode.INVALID_INPUT, reason: "binary", filePath: join(folder.path, "b.txt") },
    });
  });

  it("ends with the reason of its signal", async () => {
    await put("a.txt", "a");
    context = toolContext({ ...context, signal: AbortSignal.abort(new Error("no longer wanted")) });
    await expect(read("a.txt")).rejects.toThrow("no longer wanted");
  });
});

async function put(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder.path, name), content);
  return join(folder.path, name);
}

function read(target_file: string, input: JsonObject = {}): Promise<ToolResult> {
  return readFile.run({ target_file, ...input }, context);
}

/** A picture as far as its structure goes. */
function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    ...(
      [
        ["IHDR", header],
        ["IDAT", Buffer.alloc(30)],
        ["IEND", Buffer.alloc(0)],
      ] as const
    ).map(([type, data]) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(data.length);
      return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
    }),
  ]);
}

function zip(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const data = deflateRawSync(text);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), data);
    entries.push(entry, Buffer.from(name));
    offset += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...entries, end]);
}
