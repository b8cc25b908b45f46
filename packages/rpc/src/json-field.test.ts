import { describe, expect, it } from "vitest";
import { parseJsonField } from "./json-field.ts";

describe("parseJsonField", () => {
  it("gives the value", () => {
    expect(parseJsonField("input_json", '{"a":[1,null]}')).toEqual({ a: [1, null] });
  });

  it("names the field and the place in its error", () => {
    expect(() => parseJsonField("input_json", '{"a":')).toThrow(/^input_json is not JSON: .*JSON/);
  });
});
