import { chmod, link, lstat, readlink, stat, symlink } from "node:fs/promises";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Of } from "../../../files/edit-engine/splice.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { PatchFolder } from "../../../testing/patch-folder.ts";
import { applyPatch } from "./apply-patch.ts";

let folder: PatchFolder;

beforeEach(async () => {
  folder = await PatchFolder.open();
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("Codex:apply_patch", () => {
  it("adds, updates, moves and deletes in one patch and says what it did", async () => {
    await folder.put("src/app.py", 'def greet():\nprint("Hi")\n');
    await folder.put("old.txt", "bye\n");
    await folder.put("n.txt", "1\n2\n");
    const { output, promptText } = await folder.patch(
      "*** Add File: a/b.txt\n+x",
      '*** Update File: src/app.py\n*** Move to: lib/main.py\n@@ def greet():\n-print("Hi")',
      '+print("Hello")\n*** Update File: n.txt\n@@\n-2\n+two\n*** Delete File: old.txt',
    );
    expect(promptText).toMatch(/^Success\./);
    const at = (name: string): string => folder.at(name);
    expect(promptText.split("\n").slice(1)).toEqual([
      `A ${at("a/b.txt")}`,
      `M ${at("src/app.py")}`,
      `M ${at("n.txt")}`,
      `D ${at("old.txt")}`,
      "",
    ]);
    expect(output["Success"]).toMatchObject({
      tool_output_for_prompt: promptText,
      files: [
        { path: at("a/b.txt"), action: "added", new_text: "x\n", receipt: { before_sha256: null } },
        {
          path: at("src/app.py"),
          action: "moved",
          move_to: at("lib/main.py"),
          old_text: 'def greet():\nprint("Hi")\n',
          new_text: 'def greet():\nprint("Hello")\n',
          fuzz: 1,
        },
        {
          action: "modified",
          receipt: {
            before_sha256: sha256Of(Buffer.from("1\n2\n")),
            after_sha256: sha256Of(Buffer.from("1\ntwo\n")),
            spans: [[2, 4, 6]],
            line_ending: "lf",
            encoding: "utf-8",
          },
        },
        { action: "deleted", old_text: "bye\n", new_text: "" },
      ],
    });
    expect(await folder.tree()).toEqual({
      "a/b.txt": "x\n",
      "lib/main.py": 'def greet():\nprint("Hello")\n',
      "n.txt": "1\ntwo\n",
    });
  });

  it("tells observers of each file once: a move as a new file and a removed one", async () => {
    await folder.put("a.txt", "1\n2\n");
    await folder.put("b.txt", "b\n");
    await folder.patch(
      "*** Update File: a.txt\n@@\n-1\n+one",
      "*** Update File: a.txt\n@@\n-2\n+two",
      "*** Update File: b.txt\n*** Move to: c.txt\n@@\n-b\n+c",
    );
    const at = (name: string): string => folder.at(name);
    expect(folder.touched).toEqual([
      { access: "write", path: at("a.txt"), content: { before: "1\n2\n", after: "one\ntwo\n" } },
      { access: "write", path: at("c.txt"), content: { before: null, after: "c\n" } },
      { access: "delete", path: at("b.txt"), content: { before: "b\n", after: "" } },
    ]);
    const stats = await stat(at("a.txt"));
    const seen = { path: at("a.txt"), stats, sha256: sha256Of(Buffer.from("one\ntwo\n")) };
    expect(folder.context.resource(fileReadTracker).stateOf(seen)).toBe("unchanged");
  });

  it.each(["$&", "$1", "\\1", "$$", "$`"])("writes %j as it is", async (text) => {
    await folder.put("a.txt", "x\n");
    await folder.patch("*** Update File: a.txt", "@@", "-x", `+${text}`);
    expect(await folder.tree()).toEqual({ "a.txt": `${text}\n` });
  });

  it.each([
    ["a CRLF file", "a\r\nb\r\n", ["-a", "+A", "+A2"], "A\r\nA2\r\nb\r\n"],
    ["a lone return", "a\rb\nc\n", ["-c", "+C"], "a\rb\nC\n"],
    ["lines with a lone return as old text", "a\rb\nc\n", ["-a\rb", "+d"], "d\nc\n"],
    ["an open last line that stays", "a\nb", ["-a", "+A"], "A\nb"],
    ["an open last line that is replaced", "a\r\nb", ["-b", "+B"], "a\r\nB\r\n"],
    ["lines added behind an open last line", "a\r\nb", [" b", "+c"], "a\r\nb\r\nc\r\n"],
    ["lines added to an open file without chunk context", "a", ["+b"], "a\nb\n"],
    ["lines added before an empty last line", "a\n\n", ["+b"], "a\nb\n\n"],
    ["lines added to an empty file", "", ["+b"], "b\n"],
    ["a blank line that is not in the file", "a\nb\n", [" a", "-b", ""], "a\n"],
    ["an added line instead of a blank one that is not there", "a\n", [" a", "", "+b"], "a\n\nb\n"],
    ["spaces of the file in context", "  a  \nb\n", [" a", "-b", "+c"], "  a  \nc\n"],
  ])("keeps the line endings of %s", async (...[, before, chunk, after]) => {
    await folder.put("a.txt", before);
    await folder.patch("*** Update File: a.txt", "@@", ...chunk);
    expect(await folder.tree()).toEqual({ "a.txt": after });
  });

  it("keeps byte order marks, other encodings and bytes that are no text", async () => {
    const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");
    await folder.put("bom.txt", Buffer.from("\ufeffa\nb\n"));
    await folder.put("wide.txt", utf16("a\r\né\r\n"));
    await folder.put("latin.txt", Buffer.from("\xe9\nb\n\xff\n", "latin1"));
    const { failure } = await folder.patch(
      "*** Update File: bom.txt\n@@\n-a\n+A",
      "*** Update File: wide.txt\n@@\n-é\n+“è”",
      "*** Update File: latin.txt\n@@\n-b\n+B",
    );
    expect(failure).toBeUndefined();
    expect(await folder.bytes("bom.txt")).toEqual(Buffer.from("\ufeffA\nb\n"));
    expect(await folder.bytes("wide.txt")).toEqual(utf16("a\r\n“è”\r\n"));
    expect(await folder.bytes("latin.txt")).toEqual(Buffer.from("\xe9\nB\n\xff\n", "latin1"));
    const unmatched = await folder.patch("*** Update File: latin.txt", "@@", "-\ufffd", "+x");
    expect(unmatched.failure?.code).toBe(ErrorCode.NO_MATCHES);
  });

  it("keeps the mode, also of a file that moves, and other names of a file", async () => {
    await folder.put("run.sh", "a\n");
    await folder.put("tool.sh", "a\n");
    await chmod(folder.at("run.sh"), 0o755);
    await chmod(folder.at("tool.sh"), 0o750);
    await folder.put("one.txt", "a\n");
    await link(folder.at("one.txt"), folder.at("two.txt"));
    await folder.patch(
      "*** Update File: run.sh\n@@\n-a\n+b",
      "*** Update File: tool.sh\n*** Move to: bin/tool\n@@\n-a\n+b",
      "*** Update File: one.txt\n@@\n-a\n+b",
    );
    expect((await stat(folder.at("run.sh"))).mode & 0o777).toBe(0o755);
    expect((await stat(folder.at("bin/tool"))).mode & 0o777).toBe(0o750);
    expect(await folder.bytes("two.txt")).toEqual(Buffer.from("b\n"));
  });

  it("changes the target of a symbolic link and removes only the link", async () => {
    await folder.put("real.txt", "a\n");
    await symlink("real.txt", folder.at("link.txt"));
    await folder.patch("*** Update File: link.txt", "@@", "-a", "+b");
    expect(await readlink(folder.at("link.txt"))).toBe("real.txt");
    expect(await folder.bytes("real.txt")).toEqual(Buffer.from("b\n"));
    const { output } = await folder.patch("*** Delete File: link.txt");
    expect(output["Success"]).toMatchObject({ files: [{ action: "deleted", old_text: "b\n" }] });
    expect(await folder.tree()).toEqual({ "real.txt": "b\n" });
    await symlink("real.txt", folder.at("link.txt"));
    await folder.patch("*** Update File: link.txt", "*** Move to: new.txt", "@@", "-b", "+c");
    expect(await folder.tree()).toEqual({ "new.txt": "c\n", "real.txt": "b\n" });
    expect((await lstat(folder.at("new.txt"))).isFile()).toBe(true);
  });

  it("reports how loosely lines were compared and that they occur several times", async () => {
    await folder.put("loose.txt", "x \n  y\nsay “z”\n");
    const levels = [
      ["-x", "+1", 2],
      ["-y", "+2", 3],
      ['-say "z"', "+3", 4],
    ] as const;
    for (const [old, added, fuzz] of levels) {
      const { output, promptText } = await folder.patch("*** Update File: loose.txt", "@@", old, added);
      expect(output["Success"]).toMatchObject({ files: [{ fuzz }] });
      expect(promptText.split("\n")[0]).toContain("loose.txt");
    }
    await folder.put("twice.txt", "a\na\n");
    const twice = await folder.patch("*** Update File: twice.txt", "@@", "-a", "+b");
    expect(twice.output["Success"]).toMatchObject({ files: [{ fuzz: 1, ambiguous: true }] });
    expect(await folder.bytes("twice.txt")).toEqual(Buffer.from("b\na\n"));
    const once = await folder.patch("*** Update File: twice.txt", "@@", "-a", "+c");
    expect(JSON.stringify(once.output)).not.toContain("ambiguous");
  });

  it("does not take an exact match at a lower level than a loose one before it", async () => {
    await folder.put("a.txt", " a\nb\na\nb\n");
    await folder.patch("*** Update File: a.txt", "@@", "-a", " b", "+c");
    expect(await folder.tree()).toEqual({ "a.txt": " a\nb\nb\nc\n" });
  });

  it("looks for lines behind each context and adds lines of chunks without old ones at the end", async () => {
    await folder.put("a.txt", "class A\ndef m\nx\nclass B\ndef m\nx\n");
    await folder.patch("*** Update File: a.txt\n@@\n+tail\n@@ class B\n@@ def m\n-x\n+y");
    expect(await folder.tree()).toEqual({ "a.txt": "class A\ndef m\nx\nclass B\ndef m\ny\ntail\n" });
  });

  it("lets operations see those before them", async () => {
    await folder.put("a.txt", "a\n");
    await folder.put("b.txt", "b\n");
    const { failure } = await folder.patch(
      "*** Add File: new.txt\n+1\n*** Update File: new.txt\n*** Move to: final.txt\n@@\n-1\n+2",
      "*** Delete File: a.txt\n*** Update File: b.txt\n*** Move to: a.txt\n@@\n-b\n+B",
      "*** Add File: gone.txt\n+x\n*** Delete File: gone.txt",
    );
    expect(failure).toBeUndefined();
    expect(await folder.tree()).toEqual({ "final.txt": "2\n", "a.txt": "B\n" });
    const after = await folder.patch("*** Delete File: a.txt", "*** Update File: a.txt", "@@", "-B", "+x");
    expect(after.failure?.code).toBe(ErrorCode.FILE_NOT_FOUND);
  });

  it("replaces an existing file by an added one unless that is not allowed", async () => {
    await folder.put("a.txt", "old\r\n");
    const { output, promptText } = await folder.patch("*** Add File: a.txt", "+new");
    expect(output["Success"]).toMatchObject({ files: [{ action: "modified", old_text: "old\r\n" }] });
    expect(promptText).toContain("\nM ");
    folder.configure({ params: { allow_overwrite: false } });
    const { failure } = await folder.patch("*** Add File: b.txt", "+b", "*** Add File: a.txt", "+newer");
    expect(failure).toMatchObject({
      code: ErrorCode.FILE_ALREADY_EXISTS,
      filePath: folder.at("a.txt"),
    });
    expect(await folder.tree()).toEqual({ "a.txt": "new\n" });
  });

  it("deletes a binary file", async () => {
    await folder.put("bin", "a\0\n");
    expect((await folder.patch("*** Delete File: bin")).failure).toBeUndefined();
    expect(await folder.tree()).toEqual({});
  });

  it("advertises one parameter, which is required", () => {
    const schema = { properties: { patch: {}, input: {} }, required: [] };
    expect(applyPatch.specialiseInput(schema, {})).toEqual({
      properties: { patch: {} },
      required: ["patch"],
    });
  });

  it("leaves texts out that would not fit into an answer", async () => {
    await folder.put("big.txt", `a\n${"x".repeat(7 * 1024 * 1024)}\n`);
    const { output } = await folder.patch(
      "*** Update File: big.txt",
      "@@",
      "-a",
      "+b",
      "*** Add File: s.txt",
      "+s",
    );
    const { files } = output["Success"] as { files: Record<string, unknown>[] };
    expect(files[0]).toMatchObject({ texts_omitted: true, new_text: "" });
    expect(files[0]).not.toHaveProperty("old_text");
    expect(files[1]).toMatchObject({ new_text: "s\n" });
  });

  it("finds lines in a file of very many equal ones without much work", async () => {
    await folder.put("a.txt", `${"a\n".repeat(200_001)}b\n`);
    const old = Array<string>(20_000).fill("-a");
    const { failure } = await folder.patch("*** Update File: a.txt", "@@", ...old, "-b", "+c");
    expect(failure).toBeUndefined();
    expect((await folder.bytes("a.txt")).toString()).toBe(`${"a\n".repeat(180_001)}c\n`);
  });
});
