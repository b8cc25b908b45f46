import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { orderedObject, parseOrderedJson } from "./ordered-json.ts";

describe("orderedObject", () => {
  it("keeps the order of keys that look like numbers", () => {
    const object = orderedObject([
      ["b", 1],
      ["10", 2],
      ["2", 3],
    ]);
    expect(JSON.stringify(object)).toBe('{"b":1,"10":2,"2":3}');
    expect(Object.entries(object).map(([key]) => key)).toEqual(["b", "10", "2"]);
    expect(object).toEqual({ "2": 3, "10": 2, b: 1 });
  });

  it("takes the last value of a repeated key, at the place of the first", () => {
    const object = orderedObject([
      ["7", "a"],
      ["1", "b"],
      ["7", "c"],
    ]);
    expect(JSON.stringify(object)).toBe('{"7":"c","1":"b"}');
  });

  it("is a plain object where the order is the usual one, so that it can be cloned", () => {
    expect(
      structuredClone(
        orderedObject([
          ["1", 1],
          ["x", 2],
        ] as const),
      ),
    ).toEqual({ "1": 1, x: 2 });
  });
});

describe("parseOrderedJson", () => {
  it.each([
    '{"10":{"2":1,"1":[{"b":0,"0":"x"}]},"9":null}',
    '{"a\\"1\\":":"\\"2\\":","3":"{\\"4\\":5}","1":true}',
    '{"__proto__":1,"5":2,"4":3}',
    '"10"',
  ])("keeps %s as it is", (text) => {
    expect(JSON.stringify(parseOrderedJson(text))).toBe(text);
  });

  it("refuses what is not JSON", () => {
    expect(() => parseOrderedJson('{"1":2,}')).toThrow(SyntaxError);
  });

  it("gives the same value as JSON.parse, whatever the keys and texts", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify({ "1": value, "0": value }, null, 1);
        expect(parseOrderedJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});
