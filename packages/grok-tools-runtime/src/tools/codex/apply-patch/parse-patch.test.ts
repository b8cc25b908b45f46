import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePatch } from "./parse-patch.ts";
import { PatchSyntaxError } from "./patch-syntax-error.ts";

const wrap = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const updateChunks = (...lines: string[]): unknown => {
  const [operation] = parsePatch(wrap("*** Update File: f", ...lines));
  return operation?.kind === "update" ? operation.chunks : undefined;
};
const problemOf = (text: string): string => {
  try {
    parsePatch(text);
  } catch (thrown) {
    if (thrown instanceof PatchSyntaxError) return thrown.message;
    throw thrown;
  }
  return "";
};

describe("parsePatch", () => {
  it("reads every kind of operation in order", () => {
    const text = wrap(
      "*** Add File: a b.txt  ",
      "+one",
      "+",
      "+ +two",
      "*** Delete File: gone.txt",
      "*** Update File: old.txt",
      "*** Move to: new.txt ",
      "@@ class A:",
      "@@   def m():",
      " keep",
      "",
      "-out",
      "+in",
      "*** End of File",
      "",
      "@@",
      "+tail",
    );
    expect(parsePatch(text)).toEqual([
      { kind: "add", path: "a b.txt", content: "one\n\n +two\n" },
      { kind: "delete", path: "gone.txt" },
      {
        kind: "update",
        path: "old.txt",
        moveTo: "new.txt ",
        chunks: [
          {
            lineNumber: 9,
            contexts: ["class A:", "  def m():"],
            lines: [
              { kind: "context", text: "keep" },
              { kind: "context", text: "" },
              { kind: "remove", text: "out" },
              { kind: "add", text: "in" },
            ],
            isEndOfFile: true,
          },
          { lineNumber: 17, contexts: [], lines: [{ kind: "add", text: "tail" }], isEndOfFile: false },
        ],
      },
    ]);
  });

  it.each([
    ["white space around it", `\u0085\u00a0\n${wrap("*** Delete File: f")}\u2028\n`],
    ["a heredoc", `<<EOF\n${wrap("*** Delete File: f")}\nEOF`],
    ["a heredoc with a delimiter glued to something", `<<'EOF'\n${wrap("*** Delete File: f")}\n  xEOF`],
    ["a command with a heredoc", `apply_patch <<"EOF"\n${wrap("*** Delete File: f")}\nEOF\n`],
    ["CRLF line ends", wrap("*** Delete File: f").replaceAll("\n", "\r\n")],
    ["blanks around the markers", "  *** Begin Patch \n\t*** Delete File: f\t\n*** End Patch\t"],
  ])("accepts %s", (_what, text) => {
    expect(parsePatch(text)).toEqual([{ kind: "delete", path: "f" }]);
  });

  it.each([
    ["quotes that do not match", `<<"EOF'\n${wrap("*** Delete File: f")}\nEOF`, "*** Begin Patch"],
    ["another delimiter", `<<END\n${wrap("*** Delete File: f")}\nEND`, "*** Begin Patch"],
    ["a heredoc that is too short", "<<EOF\n*** Begin Patch\nEOF", "*** Begin Patch"],
    ["a heredoc whose patch has no end", "<<EOF\n*** Begin Patch\n*** Delete File: f\nEOF", "*** End Patch"],
    ["a command without a heredoc", `apply_patch ${wrap("*** Delete File: f")}`, "*** Begin Patch"],
    ["a byte order mark", `\ufeff${wrap("*** Delete File: f")}`, "*** Begin Patch"],
    ["both markers missing", "x", "*** Begin Patch"],
    ["nothing", "", "*** End Patch"],
    ["only blanks", " \n\t", "*** End Patch"],
    ["half a character", wrap("*** Add File: f", "+\ud800"), "surrogate"],
    ["more than 10 MiB", wrap("*** Add File: f", `+${"x".repeat(10 * 1024 * 1024)}`), "bytes"],
    ["more than 1000 operations", wrap(...Array<string>(1001).fill("*** Delete File: f")), "1000"],
  ])("refuses %s", (_what, text, token) => {
    expect(problemOf(text)).toContain("Invalid patch: ");
    expect(problemOf(text)).toContain(token);
  });

  it.each([
    ["an unknown header", ["*** Rename File: f"], 2, "*** Update File: "],
    ["a header without a path", ["*** Add File: "], 2, "*** Add File: "],
    ["a blank line between operations", ["*** Delete File: f", "", "*** Delete File: g"], 3, "''"],
    ["content after a deletion", ["*** Delete File: f", "+x"], 3, "+x"],
    ["an update without chunks", ["*** Update File: f", "*** Delete File: g"], 2, "'f'"],
    ["a second chunk without a marker", ["*** Update File: f", "@@", "-a", "x"], 5, "'x'"],
    ["a marker at the end", ["*** Update File: f", "@@"], 4, "no lines"],
    ["stacked markers at the end", ["*** Update File: f", "@@ a", "@@ b"], 5, "no lines"],
    ["an end of file without lines", ["*** Update File: f", "@@ a", "*** End of File"], 4, "no lines"],
    ["a line without a sign", ["*** Update File: f", "@@", "x"], 4, "'x'"],
    ["a first line without a marker and a sign", ["*** Update File: f", "x"], 4, "'x'"],
    ["a bare marker before one with context", ["*** Update File: f", "@@", "@@ a", "-x"], 4, "'@@ a'"],
    ["an indented move", ["*** Update File: f", " *** Move to: g", "x"], 4, "'x'"],
  ])("names the line of %s", (...[, lines, lineNumber, token]) => {
    expect(problemOf(wrap(...lines))).toContain(`line ${lineNumber}:`);
    expect(problemOf(wrap(...lines))).toContain(token);
  });

  it.each([
    ["a header", ["x".repeat(100_000)], "'*** Update File: '"],
    ["a line of a chunk", ["*** Update File: f", "@@", "x".repeat(100_000)], "'+' (added)"],
    ["a further chunk", ["*** Update File: f", "@@", "-a", "*".repeat(2) + "x".repeat(100_000)], "'@@'"],
  ])("says what is right although %s is long", (_what, lines, right) => {
    const problem = problemOf(wrap(...lines));
    expect(problem).toContain(right);
    expect(problem.length).toBeLessThan(1000);
  });

  it("takes the rest of a context line as it is and keeps returns inside lines", () => {
    expect(updateChunks("@@  x ", "-a\rb")).toMatchObject([
      { contexts: [" x "], lines: [{ kind: "remove", text: "a\rb" }] },
    ]);
  });

  it("gives operations or its own error for any text", () => {
    const piece = fc.constantFrom(
      "*** Begin Patch",
      "*** End Patch",
      "*** Add File: f",
      "*** Update File: f",
      "*** Delete File: f",
      "*** Move to: g",
      "*** End of File",
      "@@",
      "@@ x",
      "+a",
      "-a",
      " a",
      "",
      "***",
      "<<EOF",
      "EOF",
      "\r",
    );
    const structured = fc
      .array(fc.oneof(piece, fc.string()), { maxLength: 12 })
      .map((lines) => lines.join("\n"));
    const framed = structured.map((text) => `*** Begin Patch\n${text}\n*** End Patch`);
    const block = fc.constantFrom(
      "*** Delete File: f",
      "*** Add File: f\n+a",
      "*** Update File: f\n@@ x\n-a\n+b",
      "@@\n+c",
      "\n",
    );
    const nearlyValid = fc
      .array(fc.oneof({ weight: 8, arbitrary: block }, { weight: 1, arbitrary: piece }), {
        minLength: 1,
        maxLength: 6,
      })
      .map((blocks) => `*** Begin Patch\n${blocks.join("\n")}\n*** End Patch`);
    let parsedCount = 0;
    fc.assert(
      fc.property(fc.oneof(structured, framed, nearlyValid, fc.string({ unit: "binary" })), (text) => {
        // Anything but the parser's own error fails the property.
        if (problemOf(text) === "") parsedCount += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(parsedCount).toBeGreaterThan(50);
  });
});
