import { describe, expect, it } from "vitest";
import { requireJsonText } from "./json-text.ts";

const check = (text: string) => requireJsonText("field", new TextEncoder().encode(text));
const levels = (count: number) => "[".repeat(count) + "]".repeat(count);

describe("a JSON field", () => {
  it.each([
    ["null"],
    [' {"a": [1, 2.5e3, "x"]} '],
    [String.raw`"\ud83c\udf0d"`],
    [String.raw`"\\ud800"`],
    [String.raw`"\u0041\ud83c\udf0d\u0042"`],
    [levels(127)],
    [`"${"[".repeat(500)}"`],
    [String.raw`["\"[[[", "\\", "]"]`],
  ])("is taken as it is: %s", (text) => {
    expect(check(text)).toBe(text);
  });

  it.each([
    [""],
    ["{bad"],
    ["undefined"],
    [String.raw`"\ud800"`],
    [String.raw`"\udc00"`],
    [String.raw`"\ud800x\udc00"`],
    [String.raw`"\ud800\u0041"`],
    [String.raw`"\ud800\n"`],
    [String.raw`{"\ud800": 1}`],
    [levels(128)],
  ])("is refused: %s", (text) => {
    expect(() => check(text)).toThrow(/^field is not JSON/);
  });

  it("is refused when it is no UTF-8", () => {
    expect(() => requireJsonText("field", new Uint8Array([0x22, 0xff, 0x22]))).toThrow(/UTF-8/);
  });
});
