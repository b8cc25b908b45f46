import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { read } from "./read.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let touched: string[];
let context: ToolContext<unknown>;

beforeEach(async () => {
  folder = await temporaryFolder();
  touched = [];
  context = toolContext({
    workingDirectory: folder.path,
    touched: ({ access, path }) => touched.push(`${access} ${path}`),
  });
});
afterEach(() => folder[Symbol.asyncDispose]());

describe("OpenCode:read", () => {
  it("gives windows that add up to the file", async () => {
    const lines = Array.from({ length: 25 }, (_, index) => `line ${index + 1}`);
    await put("f", `${lines.join("\n")}\n`);
    const windows: string[] = [];
    for (let offset = 1; offset <= 25; offset += 7) {
      const { output } = await run({ filePath: "f", offset, limit: 7 });
      windows.push((output["FileContent"] as { raw_output: string }).raw_output);
    }
    expect(windows.join("\n")).toBe(lines.join("\n"));
    expect(touched).toEqual(Array.from({ length: 4 }, () => `read ${join(folder.path, "f")}`));
  });

  it("lists folders by page, links to folders among them, without regard to case", async () => {
    await mkdir(join(folder.path, "d/Sub"), { recursive: true });
    for (const name of ["b", "A", "c"]) await put(`d/${name}`, "");
    await symlink("Sub", join(folder.path, "d/link"));
    const { promptText } = await run({ filePath: "d" });
    expect(promptText.split("\n").slice(1)).toEqual([
      "<type>directory</type>",
      "<entries>",
      "A",
      "b",
      "c",
      "link/",
      "Sub/",
      "",
      "(5 entries)",
      "</entries>",
    ]);
    const page = await run({ filePath: "d", offset: 2, limit: 2 });
    expect(page.promptText).toContain("b\nc\n\n(2 of 5 entries; use offset=4 for entry 4 and on)");
    expect(touched[0]).toBe(`list ${join(folder.path, "d")}`);
  });

  it("shows the log of a terminal without its escapes, and refuses what is no text", async () => {
    await put("log", "\u001b7\u001b8a\n".repeat(20));
    const { promptText } = await run({ filePath: "log" });
    expect(promptText).toContain("1: a\n2: a");
    expect(promptText).toContain("escapes are left out");
    await writeFile(join(folder.path, "raw"), Buffer.from([1, 2, 3, 0xff, 0xfe, 4]));
    expect((await run({ filePath: "raw" })).failure).toMatchObject({ reason: "binary" });
    await put("a.zip", "\u001b[1m\u001b[1m");
    expect((await run({ filePath: "a.zip" })).failure).toMatchObject({ reason: "binary" });
  });

  it("hands PDF documents on up to 20 MiB", async () => {
    await put("a.pdf", "%PDF-1.7");
    expect((await run({ filePath: "a.pdf" })).output).toEqual({
      type: "ReadFile",
      ImageContent: { data: Buffer.from("%PDF-1.7").toString("base64"), mime_type: "application/pdf" },
    });
    await writeFile(join(folder.path, "b.pdf"), new Uint8Array(20 * 1024 * 1024 + 1));
    expect((await run({ filePath: "b.pdf" })).failure).toMatchObject({ reason: "too_large" });
  });

  it("names its parameters as the caller calls them", async () => {
    await put("f", "a\nb\n");
    context = { ...context, parameterName: (name) => `my_${name}` };
    expect((await run({ filePath: "f", limit: 1 })).promptText).toContain("my_offset=2");
    expect((await run({ filePath: "f", offset: 9 })).promptText).toContain("my_offset");
    expect((await run({ filePath: "f", limit: 0 })).promptText).toContain("my_limit");
  });

  it("reads nothing outside the roots, and no pipe or device", async () => {
    await mkdir(join(folder.path, "in"));
    await put("out", "secret");
    await symlink("../out", join(folder.path, "in/door"));
    const jailed = toolContext({
      ...context,
      workspaceRoots: [join(folder.path, "in")],
      sessionFolder: join(folder.path, "in"),
    });
    for (const filePath of ["out", "in/door", "."]) {
      expect((await read.run({ filePath }, jailed)).failure).toMatchObject({
        code: ErrorCode.PERMISSION_DENIED,
        reason: "outside_roots",
      });
    }
    expect((await run({ filePath: "/dev/zero" })).failure).toMatchObject({ reason: "not_a_regular_file" });
    expect(touched).toEqual([]);
  });
});

async function put(path: string, content: string): Promise<void> {
  await writeFile(join(folder.path, path), content);
}

async function run(input: Readonly<Record<string, string | number>>): Promise<ToolResult> {
  return await read.run(input, context);
}
