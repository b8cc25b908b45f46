import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePatch } from "./parse-patch.ts";
import { updateText } from "./update-text.ts";

type Ending = "\n" | "\r\n" | "";
interface Line {
  readonly text: string;
  readonly ending: Ending;
}
/** One step from the old to the new text. */
type Step = { readonly kind: "keep" | "drop" } | { readonly kind: "insert"; readonly text: string };

const lineText = fc.constantFrom("a", "b", "", " a", "a ", "é“x”", "$& $1", "x\ry", "+", "-a", "@@", "***");
const endings = {
  lf: fc.constant("\n" as const),
  crlf: fc.constant("\r\n" as const),
  mixed: fc.constantFrom("\n" as const, "\r\n" as const),
};
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant({ kind: "keep" } as const) },
    { weight: 2, arbitrary: fc.constant({ kind: "drop" } as const) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("insert" as const), text: lineText }) },
  ),
  { minLength: 1, maxLength: 16 },
);
const file = (ending: fc.Arbitrary<"\n" | "\r\n">): fc.Arbitrary<Line[]> =>
  fc
    .tuple(fc.array(fc.record({ text: lineText, ending }), { maxLength: 10 }), fc.boolean())
    .map(([lines, isOpen]): Line[] => {
      const last = lines.at(-1);
      // A last line without text and ending would be no line.
      if (!isOpen || last === undefined || last.text === "") return lines;
      return [...lines.slice(0, -1), { text: last.text, ending: "" }];
    });

describe("updateText", () => {
  it.each(["lf", "crlf", "mixed"] as const)("gives exactly the new text, %s", async (kind) => {
    let changedCount = 0;
    await fc.assert(
      fc.asyncProperty(file(endings[kind]), steps, async (old, script) => {
        const { patch, target } = diff(old, script);
        if (patch.length === 0) return;
        const outcome = await applyTo(join(old), patch);
        if (outcome !== target) expect(JSON.stringify(outcome)).toBe(JSON.stringify(target));
        if (target !== join(old)) changedCount += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(changedCount).toBeGreaterThan(1_500);
  });

  it("finds chunks with a little context in files of different lines", async () => {
    const count = fc.integer({ min: 4, max: 40 });
    await fc.assert(
      fc.asyncProperty(
        count,
        fc.array(fc.nat(39), { maxLength: 6 }),
        fc.boolean(),
        async (lines, at, isCrlf) => {
          const ending = isCrlf ? "\r\n" : "\n";
          const texts = Array.from({ length: lines }, (_, index) => `line ${index}`);
          const changed = [...new Set(at.map((index) => index % lines))].sort((one, other) => one - other);
          // Chunks that would share context lines are not two chunks.
          const apart = changed.filter(
            (index, position) => position === 0 || index - (changed[position - 1] ?? 0) > 3,
          );
          if (apart.length === 0) return;
          const patch = apart.flatMap((index) => [
            "@@",
            ...(index > 0 ? [` line ${index - 1}`] : []),
            `-line ${index}`,
            `+new ${index}`,
            ...(index + 1 < lines ? [` line ${index + 1}`] : []),
          ]);
          const target = texts.map((text, index) => (apart.includes(index) ? `new ${index}` : text));
          const outcome = await applyTo(texts.map((text) => text + ending).join(""), patch);
          expect(outcome).toBe(target.map((text) => text + ending).join(""));
        },
      ),
      { numRuns: 500 },
    );
  });
});

function join(lines: readonly Line[]): string {
  return lines.map(({ text, ending }) => text + ending).join("");
}

/** A patch of one chunk with all lines of the file, and the text it must give by the rules for line endings. */
function diff(old: readonly Line[], script: readonly Step[]): { patch: string[]; target: string } {
  const patch: string[] = [];
  const target: Line[] = [];
  let next = 0;
  const endingOf = (line: number): Ending => old[line]?.ending ?? "";
  const copy = (isKept: boolean): void => {
    const line = old[next];
    if (line === undefined) return;
    patch.push((isKept ? " " : "-") + line.text);
    if (isKept) target.push(line);
    next += 1;
  };
  for (const step of script) {
    if (step.kind !== "insert") copy(step.kind === "keep");
    else {
      const ending = endingOf(next - 1) || endingOf(next) || endingOf(next - 2) || "\n";
      const previous = target.at(-1);
      if (previous?.ending === "") target[target.length - 1] = { ...previous, ending };
      patch.push(`+${step.text}`);
      target.push({ text: step.text, ending });
    }
  }
  while (next < old.length) copy(true);
  return { patch, target: join(target) };
}

async function applyTo(content: string, chunkLines: readonly string[]): Promise<string> {
  const lines = ["*** Begin Patch", "*** Update File: f", "@@", ...chunkLines, "*** End Patch"];
  const [operation] = parsePatch((chunkLines[0] === "@@" ? lines.toSpliced(2, 1) : lines).join("\n"));
  if (operation?.kind !== "update") throw new Error("no update");
  const signal = new AbortController().signal;
  const outcome = await updateText(Buffer.from(content), operation.chunks, signal);
  if (outcome.kind !== "updated") throw new Error(`${outcome.kind}: ${JSON.stringify(outcome)}`);
  return Buffer.from(outcome.bytes).toString("utf8");
}
