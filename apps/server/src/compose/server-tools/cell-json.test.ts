import { describe, expect, it } from "vitest";
import { toCellJson } from "./cell-json.ts";

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

describe("JSON for a program", () => {
  it.each([
    [{ text: "hi", output: null }, '{"text":"hi","output":null}'],
    ["half \ud800", '"half \ufffd"'],
    [{ "\udc00": ["\ud800", { b: 1 }] }, '{"\ufffd":["\ufffd",{"b":1}]}'],
    ["whole \ud83d\ude00", '"whole \ud83d\ude00"'],
    [1, "1"],
  ])("%j is %s", (value, json) => {
    expect(toCellJson(value)).toBe(json);
  });

  it("goes 127 levels deep and no deeper", () => {
    expect(toCellJson(nested(127))).toHaveLength(254);
    expect(toCellJson(nested(128))).toBeUndefined();
  });
});
