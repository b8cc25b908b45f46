import { appendFile, readFile as readWhole, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestRuntime, testRuntime } from "../testing/test-runtime.ts";
import type { ToolSession } from "../tool-session.ts";
import { readFile } from "../tools/grok-build/read-file/read-file.ts";
import { searchReplace } from "../tools/grok-build/search-replace/search-replace.ts";

/** How much of a file is read at once: characters that lie across such a border must stay whole. */
const CHUNK_BYTES = 256 * 1024;

let test: TestRuntime;
let session: ToolSession;
beforeAll(async () => {
  test = await testRuntime([readFile, searchReplace]);
  session = await test.runtime.openSession({
    id: "awkward",
    tools: ["GrokBuild:read_file", "GrokBuild:search_replace"],
  });
});
afterAll(() => test[Symbol.asyncDispose]());

describe("names", () => {
  it.each([
    "two\nlines.txt",
    "-rf",
    "--",
    "sp aced.txt",
    "quo'te\"s.txt",
    "é.txt",
    "$(touch x).txt",
    "*.txt",
  ])("%j is read and edited like any other", async (name) => {
    const path = join(test.workspace, name);
    await writeFile(path, "one\ntwo\n");
    for (const named of [path, name]) {
      expect(await promptOf("read_file", { target_file: named })).toContain("1→one\ntwo");
    }
    await promptOf("search_replace", { file_path: name, old_string: "two", new_string: "three" });
    expect(await readWhole(path, "utf8")).toBe("one\nthree\n");
  });
});

describe("characters", () => {
  it.each([
    ["utf-8", 0],
    ["utf-8", 1],
    ["utf-8", 2],
    ["utf-8", 3],
    ["utf-16le", 0],
    ["utf-16le", 2],
  ] as const)("stay whole across the border of two reads (%s, %i bytes before)", async (encoding, before) => {
    const width = encoding === "utf-8" ? 1 : 2;
    const mark = encoding === "utf-8" ? "" : "\ufeff";
    const filler = "x".repeat((CHUNK_BYTES - before) / width - mark.length - 1);
    const text = `${mark}${filler}\n😀é\nlast\n`;
    const path = join(test.workspace, `border-${encoding}-${before}.txt`);
    await writeFile(path, text, encoding === "utf-8" ? "utf8" : "utf16le");
    const read = await promptOf("read_file", { target_file: path, offset: 2, limit: 2 });
    expect(read).toBe("2→😀é\nlast");
    await promptOf("search_replace", { file_path: path, old_string: "😀é\n", new_string: "😀è\n" });
    const written = await readWhole(path, encoding === "utf-8" ? "utf8" : "utf16le");
    expect(written === text.replace("é", "è")).toBe(true);
  });
});

describe("a file that grows while it is read", () => {
  it("is shown as it was at one moment, up to whole lines", async () => {
    const path = join(test.workspace, "growing.log");
    await writeFile(path, "");
    let isReading = true;
    const writing = (async () => {
      for (let line = 0; isReading && line < 20_000; line++) await appendFile(path, `line ${line}\n`);
    })();
    for (let round = 0; round < 60; round++) {
      const { result } = await session.execute("read_file", { target_file: path, offset: -3 });
      if (!result.ok) throw new Error(result.error.message);
      const shown = result.promptText.split("\n").filter((line) => line.includes("line"));
      expect(shown.every((line) => /^(\d+→)?line \d+$/.test(line))).toBe(true);
    }
    isReading = false;
    await writing;
  });
});

async function promptOf(tool: string, input: object): Promise<string> {
  const { result } = await session.execute(tool, input as never);
  if (!result.ok) throw new Error(result.error.message);
  return result.promptText;
}
