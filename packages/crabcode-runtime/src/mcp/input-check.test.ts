import { describe, expect, it } from "vitest";
import { inputCheck } from "./input-check.ts";

/** Definitions of which each holds the one before twice. */
function doublingDefinitions(count: number): Record<string, unknown> {
  const definitions: Record<string, unknown> = { a0: { type: "number" } };
  for (let number = 1; number <= count; number += 1) {
    const before = { $ref: `#/$defs/a${number - 1}` };
    definitions[`a${number}`] = { anyOf: [before, before] };
  }
  return definitions;
}

describe("the check of arguments against a JSON Schema", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, RegExp]>([
    ["a missing property", { required: ["path"], properties: { path: { type: "string" } } }, {}, /^path: /],
    ["a type", { properties: { count: { type: "integer" } } }, { count: 0.5 }, /^count: /],
    [
      "one further down",
      { properties: { list: { type: "array", items: { type: "string" } } } },
      { list: [1] },
      /^list.0: /,
    ],
    ["a value that is not offered", { properties: { kind: { enum: ["a", "b"] } } }, { kind: "c" }, /^kind: /],
    ["a property too many", { properties: {}, additionalProperties: false }, { other: 1 }, /other/],
    [
      "what a definition says",
      { properties: { at: { $ref: "#/$defs/at" } }, $defs: { at: { type: "number" } } },
      { at: "x" },
      /^at: /,
    ],
  ])("names %s", (...[, schema, input, problem]) => {
    expect(inputCheck({ type: "object", ...schema })(input)).toMatch(problem);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["properties it does not know", { properties: { a: { type: "string" } } }, { a: "x", b: 1 }],
    ["formats", { properties: { a: { type: "string", format: "date-time" } } }, { a: "tomorrow" }],
    ["patterns", { properties: { a: { type: "string", pattern: "^(a+)+$" } } }, { a: `${"a".repeat(64)}!` }],
    ["names by pattern", { patternProperties: { "^n": { type: "number" } } }, { n: "x" }],
    ["what cannot be checked here", { not: { required: ["a"] } }, { a: 1 }],
    [
      "what refers to itself",
      { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } } },
      { a: 1 },
    ],
    ["what is itself", { $ref: "#" }, {}],
    [
      "what leads on and on",
      { properties: { a: { $ref: "#/$defs/a25" } }, $defs: doublingDefinitions(25) },
      { a: "x" },
    ],
    [
      "values that are objects",
      { properties: { a: { const: { b: 1 } }, c: { enum: [[1]] } } },
      { a: { b: 1 }, c: [1] },
    ],
    ["which one of several it is", { oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1 }],
  ])("leaves %s to the server", (...[, schema, input]) => {
    expect(inputCheck({ type: "object", ...schema })(input)).toBeUndefined();
  });

  it("takes properties with the names of rules for what they are", () => {
    const check = inputCheck({ type: "object", properties: { pattern: { type: "string" } } });
    expect(check({ pattern: 1 })).toMatch(/^pattern: /);
  });
});
