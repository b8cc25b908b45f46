import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolContext } from "../../testing/tool-context.ts";
import type { ToolContext, ToolResult } from "../../tool.ts";
import { schemeParams } from "./anchors/scheme-params.ts";
import { hashlineEdit } from "./hashline-edit/hashline-edit.ts";
import { hashlineRead } from "./hashline-read/hashline-read.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;
let touched: unknown[];

beforeEach(async () => {
  folder = await temporaryFolder();
  touched = [];
  configure({});
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("GrokBuildHashline:hashline_read", () => {
  it("puts the same anchors on the lines of any window", async () => {
    await put(Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join(""));
    const whole = (await read()).split("\n");
    expect(whole).toHaveLength(31);
    expect(whole[9]).toMatch(/^10:[a-z]{3}:[a-z]{3}→line 9$/);
    expect(await read({ offset: 10, limit: 9 })).toBe(whole.slice(9, 18).join("\n"));
    expect(await read({ offset: -2 })).toBe(whole.slice(29).join("\n"));
  });

  it("does without groups in the other scheme", async () => {
    configure({ scheme: "content_only", hash_len: 2, chunk_size: 0 });
    await put("a\n b\n");
    expect(await read()).toMatch(/^1:[a-z]{2}→a\n2:[a-z]{2}→ b\n3:[a-z]{2}→$/);
  });

  it("is quick with long runs of blanks", async () => {
    await put(`a${" ".repeat(100_000)}b\n`);
    const started = performance.now();
    expect(await read()).toContain("b");
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("has no twin for concise output, and the notices of the plain tool", async () => {
    await put("");
    const { output, promptText } = await hashlineRead.run({ target_file: "a.txt" }, context);
    expect(promptText).toBe("File is empty.");
    expect(output["FileContent"]).not.toHaveProperty("content_concise");
  });
});

describe("GrokBuildHashline:hashline_edit", () => {
  it.each([
    { name: "replaces a range", edits: [["replace", 1, "x\ny", 2]], after: "x\ny\nc\n" },
    { name: "removes a line", edits: [["replace", 2, ""]], after: "a\nc\n" },
    { name: "removes the last lines", edits: [["replace", 3, "", 4]], after: "a\nb" },
    {
      name: "removes neighbours one by one",
      edits: [
        ["replace", 4, ""],
        ["replace", 3, ""],
      ],
      after: "a\nb",
    },
    { name: "removes everything", edits: [["replace", 1, "", 4]], after: "" },
    {
      name: "adds lines",
      edits: [
        ["insert_after", 1, "x\n"],
        ["insert_after", 1, "y"],
      ],
      after: "a\nx\ny\nb\nc\n",
    },
    { name: "adds a blank line", edits: [["insert_after", 3, ""]], after: "a\nb\nc\n\n" },
    {
      name: "adds behind what it replaces",
      edits: [
        ["replace", 3, "z"],
        ["insert_after", 3, "x"],
      ],
      after: "a\nb\nz\nx\n",
    },
  ])("$name", async ({ edits, after }) => {
    await put("a\nb\nc\n");
    await run(await operations(edits));
    expect(await content()).toBe(after);
  });

  it.each([
    { name: "behind the last line", before: "a\nb", edits: [["insert_after", 2, "c"]], after: "a\nb\nc" },
    {
      name: "at the end",
      before: "a\r\nb\r\n",
      edits: [["insert_after", "EOF", "c"]],
      after: "a\r\nb\r\nc\r\n",
    },
    { name: "in an empty file", before: "", edits: [["insert_after", "0:", "c"]], after: "c\n" },
    {
      name: "in the place of everything",
      before: "a",
      edits: [
        ["replace", 1, ""],
        ["insert_after", 1, "c"],
      ],
      after: "c",
    },
    {
      name: "with the line ending used there",
      before: "a\r\nb\nc\r\nd\n",
      edits: [
        ["replace", 4, "D\nE"],
        ["insert_after", 2, "x"],
      ],
      after: "a\r\nb\nx\r\nc\r\nD\nE\n",
    },
  ])("adds lines $name", async ({ before, edits, after }) => {
    await put(before);
    await run(await operations(edits));
    expect(await content()).toBe(after);
  });

  it("shows the changed lines with anchors that fit at once, and tells of the write", async () => {
    await put("a\nb\nc\n");
    const { promptText, output } = await run(await operations([["replace", 2, "x"]]));
    const anchor = /^(2:[a-z:]+)→x$/m.exec(promptText)?.[1] ?? "";
    await run([{ op: "replace", anchor, content: "y" }]);
    expect(await content()).toBe("a\ny\nc\n");
    expect(output["EditsApplied"]).toMatchObject({
      old_string: "a\nb\nc\n",
      new_string: "a\nx\nc\n",
      receipt: { spans: [[2, 3, 3]] },
    });
    expect(touched).toContainEqual({
      access: "write",
      path: join(folder.path, "a.txt"),
      content: { before: "a\nb\nc\n", after: "a\nx\nc\n" },
    });
  });

  it("says what is right although the lines are long", async () => {
    await put(`${"x".repeat(100_000)}\nb\n`);
    const stale = await run([{ op: "replace", anchor: `2:zzz:zzz→${"y".repeat(100_000)}`, content: "c" }]);
    expect(stale.promptText).toMatch(/out of date[^]*Anchors there now:[^]*→b/);
    expect(stale.promptText.length).toBeLessThan(3000);
    const none = await run([{ op: "replace", anchor: "y".repeat(100_000), content: "c" }]);
    expect(none.promptText).toContain("is no anchor; an anchor looks like 1:");
    expect(none.promptText.length).toBeLessThan(3000);
  });

  it("leaves texts out of the answer that would not fit into a message", async () => {
    await put(`a\n${"x".repeat(4_000_000)}\n`);
    const { output } = await run(await operations([["replace", 1, "b"]]));
    expect(output["EditsApplied"]).toMatchObject({ old_string: "", new_string: "", texts_omitted: true });
    expect((await content()).slice(0, 3)).toBe("b\nx");
  });

  it("shows places far apart on their own and is careful about long ranges", async () => {
    await put(Array.from({ length: 200 }, (_, index) => `${index}\n`).join(""));
    const { promptText } = await run(
      await operations([
        ["replace", 2, "x", 25],
        ["replace", 190, "y"],
      ]),
    );
    expect(promptText).toContain("Caution: 24 lines were replaced");
    expect(promptText).toMatch(/\.\.\. \d+ lines not shown \.\.\./);
    expect(promptText.split("\n").length).toBeLessThan(25);
  });

  it("finds a line that has moved and says which one it is", async () => {
    await put("a\nb\nc\n");
    const [edit] = await operations([["replace", 2, "x"]]);
    await put("new\na\nb\nc\n");
    const { failure, promptText } = await run([edit]);
    expect(failure).toMatchObject({ code: ErrorCode.NO_MATCHES, lineNumber: 2 });
    expect(promptText).toMatch(/this one now: 3:[a-z]{3}:[a-z]{3}\./);
    expect(await content()).toBe("new\na\nb\nc\n");
  });

  it("takes an anchor without a number only when one line has it", async () => {
    await put("a\nb\nsame\nsame\n");
    const suffixOf = async (line: number): Promise<string> => (await anchorOf(line)).replace(/^\d+:/, "");
    await run([{ op: "replace", anchor: `${await suffixOf(2)}→b`, content: "x" }]);
    expect(await content()).toBe("a\nx\nsame\nsame\n");
    const { failure, promptText } = await run([{ op: "replace", anchor: await suffixOf(3), content: "x" }]);
    expect(failure).toMatchObject({ code: ErrorCode.MULTIPLE_MATCHES });
    expect(promptText).toMatch(/3:[a-z:]+→same\n4:[a-z:]+→same/);
  });

  it("refuses operations on the same lines", async () => {
    await put("a\nb\nc\n");
    for (const edits of [
      [
        ["replace", 1, "x", 2],
        ["insert_after", 1, "y"],
      ],
      [
        ["replace", 2, "x"],
        ["insert_after", 1, "y"],
      ],
    ]) {
      const { failure } = await run(await operations(edits));
      expect(failure).toMatchObject({ code: ErrorCode.INVALID_INPUT });
    }
    const { failure } = await run([
      ...(await operations([["replace", 1, "x"]])),
      { op: "write", content: "x" },
    ]);
    expect(failure).toMatchObject({ code: ErrorCode.INVALID_INPUT });
    expect(await content()).toBe("a\nb\nc\n");
  });

  it("refuses copied anchors, and takes code with an arrow", async () => {
    await put("a\n");
    const edit = await operations([["replace", 1, "1:abc->x"]]);
    expect((await run(edit)).output).toHaveProperty("InvalidInput");
    await run(await operations([["replace", 1, "self::$a->b();"]]));
    expect(await content()).toBe("self::$a->b();\n");
  });

  it("keeps encodings and bytes that are no text, and refuses binary files", async () => {
    await put(Buffer.from([0xff, 0xfe, ...Buffer.from("a\nb\n", "utf16le")]));
    await run(await operations([["replace", 2, "ä"]]));
    expect(await readFile(join(folder.path, "a.txt"))).toEqual(
      Buffer.from([0xff, 0xfe, ...Buffer.from("a\nä\n", "utf16le")]),
    );
    await put(Buffer.from([0x61, 0xe4, 0x0a, 0x62, 0x0a]));
    await run(await operations([["replace", 2, "x"]]));
    expect(await readFile(join(folder.path, "a.txt"))).toEqual(Buffer.from([0x61, 0xe4, 0x0a, 0x78, 0x0a]));
    await put(Buffer.from("a\0b\n"));
    expect((await run([{ op: "insert_after", anchor: "EOF", content: "x" }])).failure).toMatchObject({
      reason: "binary",
    });
  });

  it("names the part of an operation that is missing", async () => {
    const answer = run([{ op: "replace", content: "x" }]);
    await expect(answer).rejects.toMatchObject({
      code: ErrorCode.MISSING_REQUIRED_FIELD,
      message: expect.stringContaining("edits[0].anchor"),
    });
    await expect(run([{ op: "delete", anchor: "1:abc" }])).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
    });
  });

  it("does not edit what ignore rules exclude", async () => {
    await mkdir(join(folder.path, ".git"));
    await writeFile(join(folder.path, ".gitignore"), "a.txt\n");
    await put("a\n");
    const { failure } = await run([{ op: "write", content: "x" }]);
    expect(failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "ignored" });
  });
});

function configure(params: object): void {
  context = toolContext({
    workingDirectory: folder.path,
    params: schemeParams.schema.parse(params),
    touched: (file) => touched.push(file),
  });
}

async function put(text: string | Uint8Array): Promise<void> {
  await writeFile(join(folder.path, "a.txt"), text);
}

function content(): Promise<string> {
  return readFile(join(folder.path, "a.txt"), "utf8");
}

async function read(input: Readonly<Record<string, number>> = {}): Promise<string> {
  return (await hashlineRead.run({ target_file: "a.txt", ...input }, context)).promptText;
}

function run(edits: readonly unknown[]): Promise<ToolResult> {
  return hashlineEdit.run({ file_path: "a.txt", edits: edits as never }, context);
}

async function anchorOf(line: number): Promise<string> {
  return (await read({ offset: line, limit: 1 })).split("→")[0] ?? "";
}

/** `[op, line, content, last line]`, lines by number, with the anchors they have now. */
async function operations(edits: readonly (readonly (string | number)[])[]): Promise<object[]> {
  const anchor = async (place: string | number): Promise<string> =>
    typeof place === "number" ? await anchorOf(place) : place;
  return await Promise.all(
    edits.map(async ([op, place = 0, text, last]) => ({
      op,
      anchor: await anchor(place),
      content: text,
      ...(last !== undefined && { end_anchor: await anchor(last) }),
    })),
  );
}
