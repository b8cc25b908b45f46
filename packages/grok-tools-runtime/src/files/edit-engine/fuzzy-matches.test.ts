import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fuzziness, MatchLevel } from "./fuzzy-matches.ts";
import { type ReplaceTextOutcome, replaceText } from "./replace-text.ts";

interface Attempt {
  readonly file: string;
  readonly old: string;
  readonly new: string;
  readonly fuzziness?: Fuzziness;
  readonly replaceAll?: boolean;
}

interface Row {
  readonly level: MatchLevel;
  readonly why: string;
  readonly attempt: Attempt;
  readonly expected: string;
}

describe("replaceText beyond exact matches", () => {
  it.each<Row>([
    {
      level: "line-trimmed",
      why: "outer blanks differ line by line",
      attempt: { file: "a\nfoo  \n bar\nb\n", old: "foo\nbar", new: "x" },
      expected: "a\nx\nb\n",
    },
    {
      level: "line-trimmed",
      why: "the whole text is indented otherwise: the new text gets the file's indent",
      attempt: { file: "if a:\n    b\n      c\nd\n", old: "b\n  c\n", new: "b\n  C\n  e\n" },
      expected: "if a:\n    b\n      C\n      e\nd\n",
    },
    {
      level: "line-trimmed",
      why: "line endings stay",
      attempt: { file: "x\r\n\tfoo\r\n\tbar\r\n", old: "foo\nbar", new: "foo\nbaz" },
      expected: "x\r\n\tfoo\r\n\tbaz\r\n",
    },
    {
      level: "line-trimmed",
      why: "a character whose last byte looks like a blank is whole, and $& is text",
      attempt: { file: "voil\u00e0 \nend\n", old: " voil\u00e0\nend", new: "$& \u00e0" },
      expected: "$& \u00e0\n",
    },
    {
      level: "whitespace-normalized",
      why: "a character at the end whose last byte looks like a blank is whole",
      attempt: { file: "x = foo  voil\u00e0!\n", old: "foo voil\u00e0", new: "bar", fuzziness: "full" },
      expected: "x = bar!\n",
    },
    {
      level: "indentation-flexible",
      why: "of two places that fit trimmed, the one with the same shape",
      attempt: { file: "  a\n    b\n\n  a\n  b\n", old: " a\n   b", new: " c" },
      expected: "  c\n\n  a\n  b\n",
    },
    {
      level: "block-anchor",
      why: "first and last line are equal and the middle is alike",
      attempt: {
        file: "f() {\n  return value + 1;\n}\nend\n",
        old: "f() {\n  return valu + 2;\n}",
        new: "g()",
        fuzziness: "full",
      },
      expected: "g()\nend\n",
    },
    {
      level: "whitespace-normalized",
      why: "runs of blanks count as one",
      attempt: { file: "call(a,   b)\n", old: "call(a, b)", new: "call(b)", fuzziness: "full" },
      expected: "call(b)\n",
    },
    {
      level: "escape-normalized",
      why: "escapes are read as what they stand for",
      attempt: { file: 'say("a")\nnext\n', old: 'say(\\"a\\")\\nnext', new: "x", fuzziness: "full" },
      expected: "x\n",
    },
    {
      level: "boundary-trimmed",
      why: "blanks around the text are dropped, the same ones of the new text too",
      attempt: { file: "(a b)[a  b]\n", old: "\na b\n", new: "\nc\n", fuzziness: "full" },
      expected: "(c)[a  b]\n",
    },
  ])("finds by $level matching: $why", ({ level, attempt, expected }) => {
    const outcome = replace(attempt);
    expect(outcome).toMatchObject({ kind: "replaced", matchLevel: level });
    expect(textOf(outcome)).toBe(expected);
    expect(replace({ ...attempt, fuzziness: "off" }).kind).toBe("no-match");
  });

  it("leaves the risky levels to `full`", () => {
    for (const old of ["call(a, b)", "call(a,  b)\\n", "  call(a,   b)  "]) {
      expect(replace({ file: "x call(a,   b) y\n", old, new: "n", fuzziness: "safe" }).kind).toBe("no-match");
    }
  });

  it("replaces nothing when several places fit equally well", () => {
    const attempt = { file: "  a\n  b\n\n  a\n  b\n", old: "a\nb ", new: "c" } as const;
    expect(replace(attempt)).toMatchObject({ kind: "multiple-matches", matchCount: 2 });
    const all = replace({ ...attempt, replaceAll: true });
    expect(all).toMatchObject({ kind: "replaced", matchLevel: "line-trimmed" });
    expect(textOf(all)).toBe("  c\n\n  c\n");
  });

  it("does not take another place than those that were ambiguous", () => {
    // Trimmed it fits twice; unescaped it would fit once, somewhere else.
    const attempt = {
      file: " a\\nb \n a\\nb \n\ta\nb\n",
      old: "\ta\\nb",
      new: "x",
      fuzziness: "full",
    } as const;
    expect(replace(attempt).kind).toBe("multiple-matches");
  });

  it("says exact when it is", () => {
    expect(replace({ file: "a\n", old: "a", new: "b" })).toMatchObject({ matchLevel: "exact" });
  });

  it("changes no byte outside the spans it reports", () => {
    const piece = fc.constantFrom("a", "b", " ", "\t", "\n", "\r\n", "\\n", "\u00e0", "\u00a0");
    const text = fc.array(piece, { maxLength: 24 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.record({ file: text, old: text, new: text, replaceAll: fc.boolean() }), (attempt) => {
        const outcome = replace({ ...attempt, old: attempt.old || "a", fuzziness: "full" });
        if (outcome.kind !== "replaced") return;
        const [before, after] = [Buffer.from(attempt.file), outcome.bytes];
        let [at, newAt] = [0, 0];
        for (const [start, end, newEnd] of outcome.spans) {
          const kept = before.subarray(at, start);
          expect(after.subarray(newAt, newAt + kept.length)).toEqual(kept);
          [at, newAt] = [end, newEnd];
        }
        expect(after.subarray(newAt)).toEqual(before.subarray(at));
      }),
    );
  });
});

function replace({
  file,
  old,
  new: newString,
  fuzziness = "safe",
  replaceAll = false,
}: Attempt): ReplaceTextOutcome {
  return replaceText(Buffer.from(file), { oldString: old, newString, replaceAll, fuzziness });
}

function textOf(outcome: ReplaceTextOutcome): string | undefined {
  return outcome.kind === "replaced" ? outcome.bytes.toString("utf8") : undefined;
}
