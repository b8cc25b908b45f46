import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RareByteSearch } from "./rare-byte-search.ts";
import { ByteUnits, countFeeds } from "./units.ts";

/** Few different characters, so that parts occur and nearly occur. */
const someText = fc.array(fc.constantFrom("a", "b", "\n", "\r", "é", "ÿ")).map((parts) => parts.join(""));

describe("ByteUnits", () => {
  it("is searched and cut as the string of its bytes is", () => {
    fc.assert(
      fc.property(someText, someText, fc.tuple(fc.nat(30), fc.nat(30)), (text, part, [from, to]) => {
        const units = new ByteUnits(Buffer.from(text, "latin1"));
        if (part !== "") {
          expect(units.indexOf(part, from)).toBe(text.indexOf(part, from));
          expect(units.lastIndexOf(part, from)).toBe(text.lastIndexOf(part, from));
        }
        expect(units.lastIndexOf("\n", -1)).toBe(text.lastIndexOf("\n", -1));
        expect(units.slice(from, to)).toBe(text.slice(from, to));
        expect(units.charCodeAt(from)).toBe(text.charCodeAt(from));
        expect(countFeeds(units, from, to)).toBe(countFeeds(text, from, to));
        expect(units.toString()).toBe(text);
      }),
    );
  });

  it("finds the same in a large text", () => {
    const text = `${"plain words\n".repeat(5000)}q7 and more${"plain words\n".repeat(5000)}`;
    const units = new ByteUnits(Buffer.from(text, "latin1"));
    for (const part of ["q7 and", "words\nplain", "words\nplains", "more", "rdsq"]) {
      for (const from of [0, 13, 60_000, 60_001, 119_990]) {
        expect(units.indexOf(part, from), part).toBe(text.indexOf(part, from));
      }
    }
  });
});

describe("RareByteSearch", () => {
  it("finds what indexOf finds, also when every byte is common", () => {
    fc.assert(
      fc.property(someText, someText, fc.tuple(fc.nat(400), fc.nat(500)), (piece, part, [repeats, from]) => {
        const text = `${piece.repeat(repeats)}${part}${piece}`;
        fc.pre(part !== "");
        const search = new RareByteSearch(Buffer.from(text, "latin1"));
        expect(search.indexOf(part, from)).toBe(text.indexOf(part, from));
      }),
    );
  });

  it("does not compare a long part again and again with a text that repeats itself", () => {
    const line = `~${"words of it ".repeat(24)}\n`;
    const text = line.repeat(8_000);
    const part = `${line.repeat(4_000).slice(0, -1)}w`;
    const search = new RareByteSearch(Buffer.from(text, "latin1"));
    // Place by place that would take minutes.
    expect(search.indexOf(part, 0)).toBe(-1);
    expect(search.indexOf(`${line.repeat(4_000)}~`, 1)).toBe(line.length);
  });
});
