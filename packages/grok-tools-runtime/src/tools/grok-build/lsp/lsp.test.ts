import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../json.ts";
import { fakeServer, type LspTest, lspTest, readLog, textOf } from "../../../lsp/testing/lsp-test.ts";

const at = { line: 0, character: 0 };
const place = (line: number, character: number): JsonObject => ({
  start: { line, character },
  end: { line, character },
});

let test: LspTest;
beforeAll(async () => {
  test = await lspTest();
  await test.put("a b.fake", "one\ntwo\n  three\n");
});
afterAll(async () => await test[Symbol.asyncDispose]());

/** What a call says when the server gives a certain answer. */
async function askWith(answer: unknown, input: JsonObject): Promise<string> {
  await test.put("x.fake", `ANSWER ${JSON.stringify(answer)}`);
  return textOf(await test.ask({ file_path: "x.fake", ...input }));
}

describe("GrokBuild:lsp", { timeout: 30_000 }, () => {
  it("names the place of a definition", async () => {
    const result = await test.ask({ operation: "goToDefinition", file_path: "a b.fake", ...at });
    const text = "Definition (1 location):\n  a b.fake:3:5";
    expect(result).toEqual({ ok: true, output: { type: "Text", text }, promptText: text });
  });

  it("names the places of an implementation, given as a link, and of references", async () => {
    const input = { file_path: join(test.workspace, "a b.fake"), ...at };
    expect(textOf(await test.ask({ operation: "goToImplementation", ...input }))).toBe(
      "Implementations (1 location):\n  a b.fake:3:5",
    );
    expect(textOf(await test.ask({ operation: "findReferences", ...input }))).toBe(
      "References (2 locations):\n  a b.fake:3:5\n  a b.fake:1:1",
    );
  });

  it("shows the text of a hover", async () => {
    const result = await test.ask({ operation: "hover", file_path: "a b.fake", ...at });
    expect(textOf(result)).toBe("one\ntwo\n  three");
  });

  it("asks for symbols of the project by name and decodes their places", async () => {
    const result = await test.ask({ operation: "workspaceSymbol", query: "run" });
    expect(textOf(result)).toBe("Function run (/elsewhere/a b.fake:3)");
  });

  it("tells a file as it is on disk now", async () => {
    await test.put("changing.fake", "before");
    const input = { operation: "hover", file_path: "changing.fake", ...at };
    expect(textOf(await test.ask(input))).toBe("before");
    await test.put("changing.fake", "after");
    expect(textOf(await test.ask(input))).toBe("after");
  });

  it.each([
    ["nothing", null, "No hover information found."],
    ["an empty text", { contents: "" }, "No hover information found."],
    ["a text", { contents: "plain" }, "plain"],
    ["code", { contents: { language: "ts", value: "let x" } }, "```ts\nlet x\n```"],
    [
      "parts",
      { contents: [{ language: "ts", value: "let x" }, "", "a variable"] },
      "```ts\nlet x\n```\n\na variable",
    ],
  ])("shows %s of a hover", async (_what, answer, text) => {
    expect(await askWith(answer, { operation: "hover", ...at })).toBe(text);
  });

  it.each([
    ["null", null],
    ["an empty list", []],
  ])("says that there is nothing for %s", async (_what, answer) => {
    const located = { operation: "goToDefinition", ...at };
    expect(await askWith(answer, located)).toBe("No results found.");
    const symbols = { operation: "documentSymbol" };
    expect(await askWith(answer, symbols)).toBe("No symbols found.");
  });

  it("lists the symbols of a file, those inside others indented", async () => {
    const leaf = { name: "size", kind: 8, range: place(2, 0), selectionRange: place(2, 2) };
    const answer = [
      { name: "Box", kind: 5, range: place(0, 0), selectionRange: place(1, 6), children: [leaf] },
      { name: "odd", kind: 99, location: { uri: "file:///far/b.fake", range: place(6, 0) } },
    ];
    expect(await askWith(answer, { operation: "documentSymbol" })).toBe(
      "Class Box (x.fake:2)\n  Field size (x.fake:3)\nSymbol odd (/far/b.fake:7)",
    );
  });

  it("shows 200 places and counts the rest", async () => {
    const many = Array.from({ length: 203 }, (_, line) => ({
      uri: "file:///far/b.fake",
      range: place(line, 0),
    }));
    const text = await askWith(many, { operation: "findReferences", ...at });
    const lines = text.split("\n");
    expect(lines[0]).toBe("References (203 locations):");
    expect(lines.slice(-2)).toEqual(["  /far/b.fake:200:1", "  ... and 3 more"]);
    expect(lines).toHaveLength(202);
  });

  it.each([
    ["percent signs that stand for nothing", "file:///far/%zz.fake", "file:///far/%zz.fake"],
    ["another scheme", "jdt://contents/x.class", "jdt://contents/x.class"],
    ["letters with accents", "file:///far/caf%C3%A9.fake", "/far/café.fake"],
  ])("shows a URI with %s", async (_what, uri, shown) => {
    const text = await askWith(
      { uri, range: place(0, 0) },
      {
        operation: "goToDefinition",
        ...at,
      },
    );
    expect(text).toBe(`Definition (1 location):\n  ${shown}:1:1`);
  });

  it.each([
    [{ operation: "goToDefinition", ...at }, "file_path"],
    [{ operation: "hover", file_path: "a b.fake", character: 0 }, "line"],
    [{ operation: "findReferences", file_path: "a b.fake", line: 0 }, "character"],
    [{ operation: "documentSymbol" }, "file_path"],
    [{ operation: "workspaceSymbol" }, "query"],
    [{}, "operation"],
  ])("%j lacks %s", async (input, field) => {
    expect(await test.ask(input)).toMatchObject({
      ok: false,
      error: { code: ErrorCode.MISSING_REQUIRED_FIELD, details: { field } },
    });
  });

  it("refuses an operation it does not know", async () => {
    expect(await test.ask({ operation: "rename" })).toMatchObject({
      ok: false,
      error: { code: ErrorCode.INVALID_INPUT, details: { field: "operation" } },
    });
  });

  it("refuses a file that no server is for, naming the extensions there are", async () => {
    expect(await test.ask({ operation: "documentSymbol", file_path: "a.xyz" })).toMatchObject({
      ok: false,
      error: {
        code: ErrorCode.INVALID_INPUT,
        details: { field: "file_path" },
        suggestion: expect.stringContaining(".fake"),
      },
    });
  });

  it("says that a file is missing", async () => {
    expect(await test.ask({ operation: "documentSymbol", file_path: "none.fake" })).toMatchObject({
      ok: false,
      error: { code: ErrorCode.FILE_NOT_FOUND, filePath: join(test.workspace, "none.fake") },
    });
  });

  it("does not show a server a file outside the roots", async () => {
    await using own = await lspTest({ settings: { workspaceRoots: [] } });
    expect(await own.ask({ operation: "documentSymbol", file_path: "/etc/x.fake" })).toMatchObject({
      ok: false,
      error: { code: ErrorCode.PERMISSION_DENIED, details: { reason: "outside_roots" } },
    });
  });

  it("reports the error of a server", async () => {
    await test.put("refused.fake", "REFUSE");
    const result = await test.ask({ operation: "hover", file_path: "refused.fake", ...at });
    expect(result).toMatchObject({
      ok: false,
      error: { code: ErrorCode.EXECUTION_FAILED, message: "LSP error: cannot do that", retryable: false },
    });
  });

  it("reports an answer that is none, and a server that does not answer such questions", async () => {
    const input = { operation: "goToDefinition", ...at };
    expect(await askWith({ uri: 7 }, input)).toContain("LSP error: the answer of fake");
    const servers = { fake: fakeServer({ capabilities: { definitionProvider: false } }) };
    await using own = await lspTest({ servers });
    await own.put("x.fake", "");
    const result = await own.ask({ ...input, file_path: "x.fake" });
    expect(result).toMatchObject({ ok: false, error: { code: ErrorCode.EXECUTION_FAILED } });
    expect(textOf(result)).toContain("textDocument/definition");
  });

  it("ends a cancelled call", async () => {
    await test.put("hangs.fake", "HANG");
    const controller = new AbortController();
    const running = test.ask(
      { operation: "hover", file_path: "hangs.fake", ...at },
      { signal: controller.signal },
    );
    controller.abort(new Error("nobody waits"));
    await expect(running).rejects.toThrow("nobody waits");
  });

  it("counts positions from 1 when it is told to, and says so in its schema", async () => {
    await using folder = await temporaryFolder();
    const log = join(folder.path, "log");
    const servers = { fake: fakeServer({ log }) };
    await using own = await lspTest({ servers, params: { positions: 1 } });
    await own.put("x.fake", "text");
    const ask = (line: number): Promise<string> =>
      own.ask({ operation: "hover", file_path: "x.fake", line, character: 1 }).then(textOf);
    expect(await ask(1)).toBe("text");
    expect(await ask(0)).toContain("the first is 1");
    const asked = (await readLog(log)).find(({ method }) => method === "textDocument/hover");
    expect(asked?.params["position"]).toEqual({ line: 0, character: 0 });
    const [card] = own.session.listTools();
    expect(JSON.stringify(card?.inputSchema)).toContain("The first of the lines is 1");
  });

  it("asks all servers for symbols and is content with those that answer", async () => {
    const other = { extensions: { ".other": "other" } };
    const servers = { a: fakeServer(), b: fakeServer({ start: "refuse" }, other), c: fakeServer({}, other) };
    await using own = await lspTest({ servers });
    const text = textOf(await own.ask({ operation: "workspaceSymbol", query: "q" }));
    expect(text.split("\n")).toEqual([
      "Function q (/elsewhere/a b.fake:3)",
      "Function q (/elsewhere/a b.fake:3)",
      "(the language server b cannot be used: no licence)",
    ]);
  });

  it("needs a configured server", async () => {
    await using own = await lspTest({ servers: {} });
    expect(await own.ask({})).toMatchObject({
      ok: false,
      error: {
        code: ErrorCode.NOT_IMPLEMENTED,
        details: { unavailable: "lsp_server", tool_id: "GrokBuild:lsp" },
        suggestion: expect.stringMatching(/tools\.lsp.*~\/\.grok\/lsp\.json.*\.grok\/lsp\.json/s),
      },
    });
  });
});
