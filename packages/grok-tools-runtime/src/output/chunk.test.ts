import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../json.ts";
import { orderedObject } from "../ordered-json.ts";
import { chunkText } from "./chunk.ts";
import { jsonPieces, textPieces } from "./text-pieces.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

describe("chunkText", () => {
  it("cuts between characters, as late as possible, and leaves nothing out", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        (pieces, maxBytes) => {
          const chunks = [...chunkText(pieces, maxBytes)];
          const characters = Array.from(pieces.join(""), (character) => Buffer.from(character));
          const expected: Buffer[] = [];
          for (const character of characters) {
            const last = expected.at(-1);
            const fits = last !== undefined && last.length + character.length <= maxBytes;
            if (fits) expected[expected.length - 1] = Buffer.concat([last, character]);
            else expected.push(character);
          }
          expect(chunks.map(({ data }) => Buffer.from(data))).toEqual(expected);
          let offset = 0;
          for (const chunk of chunks) {
            expect(chunk.offset).toBe(offset);
            expect(() => decoder.decode(chunk.data)).not.toThrow();
            offset += chunk.data.length;
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps two large slices in memory, each whole until the second one after it is asked for", () => {
    const maxBytes = 256 * 1024;
    const text = Array.from({ length: 40_000 }, (_, index) => `line ${index} é\n`).join("");
    const memories: ArrayBufferLike[] = [];
    const shown: Buffer[] = [];
    let previous: Uint8Array = new Uint8Array(0);
    for (const { data } of chunkText(textPieces(text.repeat(4)), maxBytes)) {
      // One behind: a stream may still be writing it when the next one is made.
      shown.push(Buffer.from(previous));
      previous = data;
      memories.push(data.buffer);
    }
    shown.push(Buffer.from(previous));
    expect(Buffer.concat(shown).toString("utf8") === text.repeat(4)).toBe(true);
    expect(memories.length).toBeGreaterThan(6);
    expect(new Set(memories).size).toBe(2);
  });

  it("has no slice for an empty text", () => {
    expect([...chunkText(textPieces(""), 4)]).toEqual([]);
  });
});

describe("textPieces", () => {
  it("never cuts a character", () => {
    const text = `x${"😀".repeat(100_000)}`;
    const pieces = [...textPieces(text)];
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.join("")).toBe(text);
  });
});

describe("jsonPieces", () => {
  const long = `${'a"\\\n\u0007é😀\ud800'.repeat(20_000)}\udc00`;
  const values: JsonValue[] = [
    null,
    1.5,
    [],
    {},
    "",
    long,
    { b: long, "10": [1, "x", { deep: [long, []] }], "2": true, a: {} },
    orderedObject<JsonValue>([
      ["10", 1],
      ["2", [2]],
    ]),
    Array.from({ length: 20_000 }, (_, index) => index),
    [...Array.from({ length: 9_000 }, (_, index) => index), "text", null],
  ];

  it.each(values.map((value, index) => [index, value] as const))(
    "gives together what JSON.stringify gives: %i",
    (_, value) => {
      const pieces = [...jsonPieces(value)];
      expect(pieces.join("") === JSON.stringify(value)).toBe(true);
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(500_000);
    },
  );
});
