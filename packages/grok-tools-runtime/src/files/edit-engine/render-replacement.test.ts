import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineEndingCursor, lineEndingAt } from "./render-replacement.ts";
import { ByteUnits, type Units } from "./units.ts";

const text = fc.array(fc.constantFrom("a", "\n", "\r\n", "\r", "bc"), { maxLength: 14 });

/** The ending of the first line feed from a place on, or else of the last one before it. */
function plainEndingAt(units: string, start: number): string | undefined {
  const feeds = [...units.matchAll(/\r?\n/g)].map(([ending], index, all) => ({
    ending,
    at: (all[index]?.index ?? 0) + ending.length - 1,
  }));
  return (feeds.find(({ at }) => at >= start) ?? feeds.at(-1))?.ending;
}

describe("LineEndingCursor", () => {
  it("tells at each place what the place by itself tells", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(20), { maxLength: 6 }), (parts, starts) => {
        const units = parts.join("");
        const cursor = new LineEndingCursor(new ByteUnits(Buffer.from(units)));
        for (const start of starts.filter((place) => place <= units.length)) {
          expect(cursor.at(start)).toBe(plainEndingAt(units, start));
          expect(lineEndingAt(units, { start, end: start })).toBe(plainEndingAt(units, start));
        }
      }),
    );
  });

  it.each(["\n", "\r\n", ""])("looks through a long line once for all places on it, before %j", (ending) => {
    const bytes = new ByteUnits(Buffer.from(`first\n${'{"key":1,'.repeat(1_000)}${ending}`));
    let searches = 0;
    const counted: Units = {
      length: bytes.length,
      indexOf: (part, from) => {
        searches += 1;
        return bytes.indexOf(part, from);
      },
      lastIndexOf: (part, from) => {
        searches += 1;
        return bytes.lastIndexOf(part, from);
      },
      slice: (start, end) => bytes.slice(start, end),
      charCodeAt: (position) => bytes.charCodeAt(position),
    };
    const cursor = new LineEndingCursor(counted);
    for (let start = 6; start < 9_000; start += 9) expect(cursor.at(start)).toBe(ending || "\n");
    expect(searches).toBeLessThan(3);
  });
});
