import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkMarkdown } from "./chunk-markdown.ts";

describe("chunkMarkdown", () => {
  it("cuts at headings, but not at those inside code", () => {
    const chunks = chunkMarkdown("intro\n# A\na\n```\n# not a heading\n```\n## B\nb\n");
    expect(chunks.map(({ firstLine, lastLine }) => [firstLine, lastLine])).toEqual([
      [1, 1],
      [2, 6],
      [7, 9],
    ]);
  });

  it("has nothing for a blank text", () => {
    expect(chunkMarkdown("\n \n")).toEqual([]);
  });

  it("cuts a long section between paragraphs and repeats the end of the piece before", () => {
    const paragraph = (name: string): string => `${name} ${"word ".repeat(180)}\nend of ${name}`;
    const chunks = chunkMarkdown(`# T\n${paragraph("one")}\n\n${paragraph("two")}\n`);
    expect(chunks).toHaveLength(2);
    expect(chunks[0]?.text).toMatch(/^# T\none [^]*end of one\n$/);
    expect(chunks[1]?.text).toMatch(/^end of one\n\ntwo /);
  });

  it("leaves no character out and keeps every piece below the limit", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 2_500 }), { maxLength: 12 }), (lines) => {
        const text = lines.map((line) => line.replaceAll(/[\r\n]/g, " ")).join("\n");
        const chunks = chunkMarkdown(text);
        expect(Math.max(0, ...chunks.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(1_600);
        const covered = chunks.map((chunk) => chunk.text).join("\n");
        for (const line of text.split("\n")) {
          for (let start = 0; start < line.length; start += 1_400) {
            const part = line.slice(start, start + 1_400);
            if (part.trim() !== "") expect(covered.includes(part)).toBe(true);
          }
        }
      }),
    );
  });
});
