import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineBatches } from "./line-batches.ts";

describe("LineBatches", () => {
  it("waits for the end of a line and drops blank ones", () => {
    const batches = new LineBatches();
    expect(take(batches, "one\n\n  two  \nth")).toBe("one\ntwo");
    expect(take(batches, "ree")).toBe("");
    expect(take(batches, "\n")).toBe("three");
    expect(take(batches, "last")).toBe("");
    expect(batches.flush()).toBe("last");
    expect(batches.flush()).toBe("");
  });

  it("shows lines as a terminal leaves them", () => {
    expect(take(new LineBatches(), "\u001B[31mred\u001B[0m\r\n10%\r50%\n")).toBe("red\n50%");
  });

  it("cuts long lines and batches between characters", () => {
    expect(take(new LineBatches(), `${"x".repeat(600)}\n`)).toBe(`${"x".repeat(500)}...(truncated)`);
    expect(take(new LineBatches(), `${"x".repeat(500)}\n`)).toBe("x".repeat(500));
    // 166 characters of three bytes are 498 bytes.
    expect(take(new LineBatches(), `${"→".repeat(200)}\n`)).toBe(`${"→".repeat(166)}...(truncated)`);
    const batch = take(new LineBatches(), `${"y".repeat(400)}\n`.repeat(20));
    expect(batch.endsWith("\n...(truncated)")).toBe(true);
    expect(Buffer.byteLength(batch)).toBe(3000 + "\n...(truncated)".length);
  });

  it("forgets the line in which output was left out", () => {
    const batches = new LineBatches();
    expect(take(batches, "one\ntw")).toBe("one");
    batches.skip();
    expect(take(batches, "rest of some line")).toBe("");
    expect(take(batches, " and more\nfour\n")).toBe("four");
    batches.skip();
    expect(batches.flush()).toBe("");
  });

  it("keeps an unfinished line up to a limit", () => {
    const batches = new LineBatches();
    for (let count = 0; count < 40; count++) expect(take(batches, "z".repeat(64 * 1024))).toBe("");
    expect(batches.flush()).toBe(`${"z".repeat(500)}...(truncated)`);
  });

  it("is the same however the bytes are split", () => {
    const text = "ä→😀\nsecond line\n日本語 and more\n";
    const bytes = Buffer.from(text);
    const split = fc.uniqueArray(fc.nat(bytes.length), { maxLength: 10 });
    fc.assert(
      fc.property(split, (places) => {
        const batches = new LineBatches();
        const borders = [0, ...places.sort((a, b) => a - b), bytes.length];
        const texts = borders
          .slice(1)
          .map((end, index) => batches.take(bytes.subarray(borders[index], end)))
          .filter((batch) => batch !== "");
        expect(texts.join("\n")).toBe(text.trimEnd());
      }),
    );
  });
});

function take(batches: LineBatches, text: string): string {
  return batches.take(Buffer.from(text));
}
