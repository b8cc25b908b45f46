import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomIds, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EditEngine, processPathLocks } from "./edit-engine/edit-engine.ts";
import { FileReadTracker } from "./file-read-tracker.ts";
import { LineIndexCache } from "./line-index-cache.ts";
import { WorkspaceFiles } from "./workspace-files.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files: WorkspaceFiles;
const { signal } = new AbortController();
const generous = { maxLines: 100, maxBytes: 10_000, signal };

beforeEach(async () => {
  folder = await temporaryFolder();
  files = filesWithin(undefined);
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("WorkspaceFiles", () => {
  it.each([
    { options: {}, rawText: "a\nb\nc\n", firstLine: 1, isTruncated: false },
    { options: { offset: 2, maxLines: 1 }, rawText: "b\n", firstLine: 2, isTruncated: true },
    { options: { offset: -1 }, rawText: "c\n", firstLine: 3, isTruncated: false },
    { options: { offset: 0, maxBytes: 3 }, rawText: "a\nb", firstLine: 1, isTruncated: true },
  ])("reads lines as $options says", async ({ options, ...expected }) => {
    await writeFile(join(folder.path, "a.txt"), "a\nb\nc\n");
    const read = await files.readText({ path: "a.txt", ...generous, ...options });
    expect(read).toMatchObject({ kind: "ok", totalLines: 3, ...expected });
  });

  it("reads the last line of a text that does not end with a line feed", async () => {
    await writeFile(join(folder.path, "a.txt"), "a\nb");
    const read = await files.readText({ path: "a.txt", offset: -1, ...generous });
    expect(read).toMatchObject({ rawText: "b", firstLine: 2, totalLines: 2 });
  });

  it("never cuts a character", async () => {
    await writeFile(join(folder.path, "a.txt"), "aéé");
    expect(await files.readText({ path: "a.txt", ...generous, maxBytes: 4 })).toMatchObject({
      rawText: "aé",
    });
  });

  it.each([
    ["nothing", "not-found"],
    [".", "is-a-directory"],
    ["/dev/null", "not-a-file"],
    ["b.bin", "binary"],
  ])("tells why %s is not read: %s", async (path, code) => {
    await writeFile(join(folder.path, "b.bin"), "a\0");
    expect(await files.readText({ path, ...generous })).toMatchObject({ kind: "failure", code });
  });

  it("tells how many lines there are when the first one is past the end", async () => {
    await writeFile(join(folder.path, "a.txt"), "a\nb\n");
    const read = await files.readText({ path: "a.txt", offset: 3, ...generous });
    expect(read).toMatchObject({ code: "past-the-end", totalLines: 2 });
  });

  it("edits and tells where", async () => {
    await writeFile(join(folder.path, "a.txt"), "x\r\ny\r\nx\r\n");
    const edit = await files.editText({
      path: "a.txt",
      oldText: "x",
      newText: "1\n2",
      replaceAll: true,
      signal,
    });
    expect(edit).toMatchObject({
      before: "x\r\ny\r\nx\r\n",
      after: "1\r\n2\r\ny\r\n1\r\n2\r\n",
      details: [
        { firstLine: 1, lastLine: 2 },
        { firstLine: 4, lastLine: 5 },
      ],
    });
  });

  it.each([
    ["q", "no-match"],
    ["x", "several-matches"],
    ["", "no-match"],
  ])("does not edit %j: %s", async (oldText, code) => {
    await writeFile(join(folder.path, "a.txt"), "x x");
    const edit = await files.editText({ path: "a.txt", oldText, newText: "y", replaceAll: false, signal });
    expect(edit).toMatchObject({ kind: "failure", code });
  });

  it("refuses to edit or overwrite what changed since it was read, until it is read again", async () => {
    const path = join(folder.path, "a.txt");
    await writeFile(path, "a");
    await files.readText({ path, ...generous });
    await writeFile(path, "b");
    const edit = { path, oldText: "b", newText: "c", replaceAll: false, signal };
    expect(await files.editText(edit)).toMatchObject({ code: "stale" });
    expect(await files.writeFile({ path, content: "c", signal })).toMatchObject({ code: "stale" });
    await files.readText({ path, ...generous });
    expect(await files.editText(edit)).toMatchObject({ kind: "ok", after: "c" });
    expect(await files.writeFile({ path, content: "d", signal })).toMatchObject({ kind: "ok", before: "c" });
  });

  it("writes new files with their folders and keeps the encoding of old ones", async () => {
    expect(await files.writeFile({ path: "x/y.txt", content: "é\n", signal })).toMatchObject({
      before: null,
    });
    expect(await readFile(join(folder.path, "x/y.txt"), "utf8")).toBe("é\n");
    await writeFile(join(folder.path, "u.txt"), "\ufeffold", "utf16le");
    expect(await files.writeFile({ path: "u.txt", content: "é", signal })).toMatchObject({ before: "old" });
    expect(await readFile(join(folder.path, "u.txt"), "utf16le")).toBe("\ufeffé");
  });

  it("keeps to its roots", async () => {
    await mkdir(join(folder.path, "in"));
    await writeFile(join(folder.path, "out.txt"), "x");
    await symlink("../out.txt", join(folder.path, "in/link"));
    files = filesWithin([join(folder.path, "in")]);
    expect(await files.readText({ path: "in/link", ...generous })).toMatchObject({ code: "denied" });
    expect(await files.writeFile({ path: "new.txt", content: "", signal })).toMatchObject({ code: "denied" });
  });
});

function filesWithin(roots: readonly string[] | undefined): WorkspaceFiles {
  return new WorkspaceFiles({
    workingDirectory: folder.path,
    homeDirectory: undefined,
    roots,
    engine: new EditEngine({ ids: randomIds, clock: systemClock, isDurable: false, locks: processPathLocks }),
    tracker: new FileReadTracker(),
    indexes: new LineIndexCache(),
  });
}
