import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PatchFolder } from "../../../testing/patch-folder.ts";
import { testRuntime } from "../../../testing/test-runtime.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { applyPatch } from "./apply-patch.ts";

let folder: PatchFolder;

beforeEach(async () => {
  folder = await PatchFolder.open();
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("Codex:apply_patch, refusing", () => {
  it("refuses to use the name of a link that the same patch removes", async () => {
    await folder.put("real.txt", "a\n");
    await symlink("real.txt", folder.at("link.txt"));
    const { failure } = await folder.patch("*** Delete File: link.txt", "*** Add File: link.txt", "+x");
    expect(failure?.code).toBe(ErrorCode.INVALID_INPUT);
    const gone = await folder.patch("*** Delete File: link.txt", "*** Update File: link.txt\n@@\n-a\n+b");
    expect(gone.failure?.code).toBe(ErrorCode.FILE_NOT_FOUND);
    expect(await folder.tree()).toEqual({ "real.txt": "a\n", "link.txt": "a\n" });
  });

  it("never lets a chunk at the end of the file reach into an earlier one", async () => {
    await folder.put("a.txt", "a\nb\n");
    const { failure } = await folder.patch("*** Update File: a.txt\n@@\n-b\n+c\n@@\n-b\n+d\n*** End of File");
    expect(failure?.code).toBe(ErrorCode.NO_MATCHES);
    expect(await folder.tree()).toEqual({ "a.txt": "a\nb\n" });
  });

  it.each([
    ["a folder", ["*** Delete File: dir"], { code: ErrorCode.FILE_NOT_FOUND, reason: "is_a_directory" }],
    [
      "a file as a folder",
      ["*** Add File: a.txt/b", "+x"],
      { code: ErrorCode.FILE_NOT_FOUND, reason: "not_a_directory" },
    ],
    [
      "a binary file",
      ["*** Update File: bin", "@@", "-a", "+b"],
      { code: ErrorCode.INVALID_INPUT, reason: "binary" },
    ],
    [
      "an existing target",
      ["*** Update File: a.txt", "*** Move to: bin", "@@", "-a", "+b"],
      { code: ErrorCode.FILE_ALREADY_EXISTS },
    ],
    ["a long name", [`*** Add File: ${"x".repeat(300)}`, "+x"], { code: ErrorCode.INVALID_INPUT }],
    ["a NUL in a name", ["*** Add File: a\0b", "+x"], { code: ErrorCode.INVALID_INPUT }],
    ["a missing file", ["*** Update File: no.txt", "@@", "-a", "+b"], { code: ErrorCode.FILE_NOT_FOUND }],
  ])("refuses %s and writes nothing", async (_what, operations, failure) => {
    await folder.put("a.txt", "a\n");
    await folder.put("bin", "a\0\n");
    await mkdir(folder.at("dir"));
    const before = await folder.tree();
    const result = await folder.patch(
      "*** Update File: a.txt",
      "@@",
      "-a",
      "+changed",
      "*** Add File: n/w",
      "+x",
      ...operations.map((line) => line.replace(/^-a$/, "-changed")),
    );
    expect(result.failure).toMatchObject(failure);
    expect(result.output).toEqual({ type: "ApplyPatch", ApplicationError: result.promptText });
    expect(await folder.tree()).toEqual(before);
    expect(folder.touched).toEqual([]);
  });

  it("names the lines that are not there and the nearest one", async () => {
    await folder.put("a.txt", "one\ntwo_words here\n");
    const { promptText, failure } = await folder.patch(
      "*** Update File: a.txt",
      "@@",
      " one",
      "-two_words there",
      "+x",
    );
    expect(promptText).toContain("a.txt");
    expect(promptText).toContain("two_words there");
    expect(failure).toMatchObject({
      code: ErrorCode.NO_MATCHES,
      filePath: folder.at("a.txt"),
      lineNumber: 1,
    });
    const context = await folder.patch("*** Update File: a.txt", "@@ nowhere", "-one");
    expect(context.promptText).toContain("nowhere");
  });

  it.each([
    ["the path of an update", ["*** Update File: ../out.txt", "@@", "-o", "+x"]],
    ["an absolute path", ["*** Delete File: OUTSIDE/out.txt"]],
    ["the target of a move", ["*** Update File: a.txt", "*** Move to: ../moved.txt", "@@", "-a", "+b"]],
    ["a new file behind a link", ["*** Add File: escape/new.txt", "+x"]],
    ["a link to a file outside", ["*** Update File: leak.txt", "@@", "-o", "+x"]],
    ["a link to nothing outside", ["*** Add File: dangling.txt", "+x"]],
  ])("keeps %s inside the roots", async (_what, operations) => {
    const inside = folder.at("in");
    await folder.put("in/a.txt", "a\n");
    await folder.put("out.txt", "o\n");
    await mkdir(folder.at("elsewhere"));
    await symlink("../elsewhere", join(inside, "escape"));
    await symlink("../out.txt", join(inside, "leak.txt"));
    await symlink("../new.txt", join(inside, "dangling.txt"));
    folder.configure({ workingDirectory: inside, workspaceRoots: [inside] });
    const before = await folder.tree();
    const { failure } = await folder.patch(
      "*** Add File: fine.txt\n+x",
      ...operations.map((line) => line.replace("OUTSIDE", folder.path)),
    );
    expect(failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    expect(await folder.tree()).toEqual(before);
  });

  it("refuses ignored files where they are off limits", async () => {
    await mkdir(folder.at(".git"));
    await folder.put(".gitignore", "*.log\n");
    await folder.put("a.txt", "a\n");
    folder.configure({ settings: { ...defaultToolSettings, respectGitignore: "all" } });
    const { failure } = await folder.patch("*** Update File: a.txt", "*** Move to: a.log", "@@", "-a", "+b");
    expect(failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "ignored" });
    folder.configure({});
    expect((await folder.patch("*** Add File: b.log", "+x")).failure).toBeUndefined();
  });

  it("takes the older name of its parameter, but not both", async () => {
    const text = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch";
    await applyPatch.run({ input: text }, folder.context);
    expect(await folder.tree()).toEqual({ "a.txt": "x\n" });
    const both = applyPatch.run({ input: text, patch: text }, folder.context);
    await expect(both).rejects.toMatchObject({ code: ErrorCode.INVALID_INPUT, details: { field: "input" } });
    const none = applyPatch.run({}, folder.context);
    await expect(none).rejects.toMatchObject({
      code: ErrorCode.MISSING_REQUIRED_FIELD,
      details: { field: "patch" },
    });
  });

  it("leaves every byte as it was when any operation fails", async () => {
    const good = fc.constantFrom(
      ["*** Add File: new/x.txt", "+x"],
      ["*** Update File: a.txt", "@@", "+end"],
      ["*** Update File: b.txt", "*** Move to: sub/b.txt", "@@", "+end"],
      ["*** Delete File: c.txt"],
    );
    const bad = fc.constantFrom(
      ["*** Update File: a.txt", "@@", "-not there", "+x"],
      ["*** Delete File: missing.txt"],
      ["*** Update File: a.txt", "*** Move to: d.bin", "@@", "+x"],
      ["*** Update File: d.bin", "@@", "-x"],
      ["*** Add File: a.txt/x", "+x"],
    );
    await folder.put("a.txt", "a\r\nb");
    await folder.put("b.txt", "b\n");
    await folder.put("c.txt", Buffer.from([0xff, 10]));
    await folder.put("d.bin", "\0");
    const before = await folder.tree();
    await fc.assert(
      fc.asyncProperty(
        fc.array(good, { maxLength: 4 }),
        bad,
        fc.array(good, { maxLength: 2 }),
        async (first, failing, last) => {
          const { failure } = await folder.patch(...[...first, failing, ...last].flat());
          if (failure === undefined) throw new Error("the patch was applied");
          expect(await folder.tree()).toEqual(before);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("takes written files back when a later one cannot be written, and says so", async () => {
    await using test = await testRuntime([applyPatch]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Codex:apply_patch"] });
    const path = join(test.workspace, "a.txt");
    await writeFile(path, "a\n");
    // Nothing can be made there, which shows only when it is tried.
    const patch = `*** Begin Patch
*** Update File: a.txt
@@
-a
+b
*** Add File: /proc/trivium-new
+x
*** End Patch`;
    const { result } = await session.execute("apply_patch", { patch });
    if (result.ok) throw new Error("the patch was applied");
    expect(result.error.details).toMatchObject({
      kind: "logical",
      output: { type: "ApplyPatch", ApplicationError: result.error.message },
      restored: [path],
      not_restored: [],
    });
    expect(await readFile(path, "utf8")).toBe("a\n");
  });
});
