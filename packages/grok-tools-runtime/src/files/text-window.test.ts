import { open, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineIndexCache } from "./line-index-cache.ts";
import { openFile } from "./open-file.ts";
import { COUNTED_BYTES, type ReadText, readText } from "./read-text.ts";
import type { WindowRequest } from "./text-window.ts";

const all: WindowRequest = { offset: 1, maxLines: Infinity, maxBytes: 1024 * 1024 };

describe("readText", () => {
  it.each(["utf8", "utf16le"] as const)("shows the lines that a plain split gives, %s", async (encoding) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "f.txt");
    const mark = encoding === "utf8" ? "" : "\ufeff";
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.integer({ min: -9, max: 9 }),
        fc.nat(6),
        async (content, offset, maxLines) => {
          await writeFile(path, mark + content, encoding);
          const { window, totalLines } = await read(path, { ...all, offset, maxLines });
          const fields = content === "" ? [] : content.split("\n");
          const lastIsOpen = content !== "" && !content.endsWith("\n");
          const first =
            offset < 0 ? Math.max(1, fields.length + (lastIsOpen ? 1 : 0) + offset + 1) : Math.max(1, offset);
          const shown = fields.slice(first - 1, first - 1 + maxLines);
          const isLastShown = first - 1 + shown.length === fields.length;
          expect(totalLines).toBe(fields.length);
          expect(window).toMatchObject({
            firstLine: first,
            // Each line but the last of the file had a line feed behind it.
            lines: shown.map((line, index) =>
              isLastShown && index === shown.length - 1 ? line : line.replace(/\r$/, ""),
            ),
          });
        },
      ),
      { numRuns: 150 },
    );
  });

  it("reads the middle and the end of a large file with long lines in it", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "large.txt");
    const long = "x".repeat(300_000);
    const lines = Array.from({ length: 200_000 }, (_, index) =>
      index % 50_000 === 7 ? long : `line ${index + 1} ${"y".repeat(90)}`,
    );
    await writeFile(path, lines.join("\n"));
    const indexes = new LineIndexCache();
    for (const offset of [1, 99_999, 199_999, 150_010]) {
      const { window } = await read(path, { ...all, offset, maxLines: 2 }, indexes);
      expect(window).toMatchObject({ lines: lines.slice(offset - 1, offset + 1) });
    }
    const fromEnd = await read(path, { ...all, offset: -3, maxLines: 9 }, indexes);
    expect(fromEnd.window).toMatchObject({ firstLine: 199_999, lines: lines.slice(-2) });
    expect(fromEnd).toMatchObject({ totalLines: 200_000, isTotalEstimated: false });
  });

  it("counts each part once when two reads share an index", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "large.txt");
    await writeFile(path, "0123456789abcde\n".repeat((COUNTED_BYTES / 16) * 2));
    const indexes = new LineIndexCache();
    const reads = await Promise.all([1, 2, 3].map(() => read(path, { ...all, offset: -1 }, indexes)));
    expect(reads.map(({ totalLines }) => totalLines)).toEqual(Array(3).fill((COUNTED_BYTES / 16) * 2 + 1));
  });

  it("estimates the lines of a large file of which it saw the beginning", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "large.txt");
    await writeFile(path, "0123456789abcde\n".repeat((COUNTED_BYTES / 16) * 2));
    const { totalLines, isTotalEstimated, sha256 } = await read(path, { ...all, maxLines: 10 });
    expect({ isTotalEstimated, sha256 }).toEqual({ isTotalEstimated: true, sha256: undefined });
    expect(Math.abs(totalLines / ((COUNTED_BYTES / 16) * 2) - 1)).toBeLessThan(0.01);
  });

  it("stops at the limit of bytes in a file that is one endless line", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "sparse.txt");
    await writeFile(path, "");
    // 50 GB of zeros that take no space: reading on would never end.
    await truncate(path, 50_000_000_000);
    const { window } = await read(path, { ...all, maxLines: 5 });
    expect(window).toEqual({
      kind: "too-large",
      sizeBytes: all.maxBytes,
      isSizeExact: false,
      isOneLine: true,
    });
  });

  it("counts a large file again after it has changed", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "large.txt");
    const indexes = new LineIndexCache();
    await writeFile(path, `${"a\n".repeat(COUNTED_BYTES)}`);
    await read(path, { ...all, offset: -1 }, indexes);
    await using handle = await open(path, "a");
    await handle.write("last\n");
    const { window } = await read(path, { ...all, offset: -2, maxLines: 1 }, indexes);
    expect(window).toMatchObject({ lines: ["last"] });
  });
});

const text = fc
  .array(fc.constantFrom("a", "é", "😀", "\n", "\r\n", "\r", "\n\n"), { maxLength: 12 })
  .map((parts) => parts.join(""));

async function read(path: string, window: WindowRequest, indexes = new LineIndexCache()): Promise<ReadText> {
  await using file = await openFile(path, undefined);
  return await readText(file, { ...window, path, indexes, signal: new AbortController().signal });
}
