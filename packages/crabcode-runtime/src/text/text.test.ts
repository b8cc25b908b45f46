import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutMiddle } from "./cut-middle.ts";
import { WellFormedChunks, wellFormedInput } from "./well-formed.ts";

describe("WellFormedChunks", () => {
  it("gives the well-formed text however it is cut into chunks", () => {
    const unit = fc.constantFrom("a", "é", "🦀", "\uD83E", "\uDD80");
    fc.assert(
      fc.property(fc.array(unit), fc.array(fc.nat({ max: 3 })), (units, lengths) => {
        const text = units.join("");
        const chunks = new WellFormedChunks();
        let joined = "";
        let at = 0;
        for (const length of lengths) {
          const piece = chunks.push(text.slice(at, at + length));
          expect(piece.isWellFormed()).toBe(true);
          joined += piece;
          at += length;
        }
        joined += chunks.push(text.slice(at)) + chunks.end();
        expect(joined).toBe(text.toWellFormed());
      }),
    );
  });
});

it("makes strings of an input well-formed, keys included", () => {
  expect(wellFormedInput({ "a\uD800": ["\uDC00", { b: 1 }], c: null })).toEqual({
    "a\uFFFD": ["\uFFFD", { b: 1 }],
    c: null,
  });
});

describe("cutMiddle", () => {
  it("leaves what fits", () => {
    expect(cutMiddle("é".repeat(100), 200)).toBe("é".repeat(100));
  });

  it("keeps head and tail, breaks no character and says how many it cut", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("a", "é", "你", "🦀"),
        fc.integer({ min: 200, max: 999 }),
        (char, maxBytes) => {
          const cut = cutMiddle(char.repeat(1000), maxBytes);
          const match = /^(.+)\n\.\.\. \[(\d+) characters cut\] \.\.\.\n(.+)$/u.exec(cut);
          expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
          const kept = Array.from(`${match?.[1]}${match?.[3]}`);
          expect(new Set(kept)).toEqual(new Set([char]));
          expect(kept.length + Number(match?.[2])).toBe(1000);
        },
      ),
    );
  });
});
