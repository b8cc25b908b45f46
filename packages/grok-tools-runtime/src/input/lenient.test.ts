import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toJsonSchema } from "../catalogue/json-schema.ts";
import { toInputError } from "./input-error.ts";
import { absentable, lenientBoolean, lenientInteger, lenientStringList } from "./lenient.ts";

describe("lenientBoolean", () => {
  it.each([
    [true, true],
    [" Yes ", true],
    ["1", true],
    [1, true],
    ["FALSE", false],
    ["no", false],
    [0, false],
    [null, false],
  ])("takes %j as %j", (value, expected) => {
    expect(lenientBoolean().parse(value)).toBe(expected);
  });

  it.each([2, "on", "", [], {}])("refuses %j", (value) => {
    expect(lenientBoolean().safeParse(value).success).toBe(false);
  });

  it("tells absent from null where it is optional", () => {
    const schema = z.object({ flag: lenientBoolean().optional() });
    expect(schema.parse({})).toEqual({});
    expect(schema.parse({ flag: null })).toEqual({ flag: false });
  });
});

describe("lenientInteger", () => {
  it.each([
    [120, 120],
    [120.0, 120],
    ["120", 120],
    [" 120.0 ", 120],
    ["1e3", 1000],
    ["-7", -7],
    [-0, -0],
    [2 ** 53 - 1, 2 ** 53 - 1],
  ])("takes %j as %j", (value, expected) => {
    expect(lenientInteger().parse(value)).toBe(expected);
  });

  it.each([
    12.5,
    "12.5",
    "",
    "0x10",
    "1_000",
    "9007199254740994",
    1e300,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    [],
  ])("refuses %j", (value) => {
    expect(lenientInteger().safeParse(value).success).toBe(false);
  });

  it("keeps its range and takes null as absent where it is optional", () => {
    const schema = z.object({ count: absentable(lenientInteger({ min: 0, max: 5 })) });
    expect(schema.parse({ count: null })).toEqual({ count: undefined });
    expect(schema.parse({ count: "5" })).toEqual({ count: 5 });
    expect(schema.safeParse({ count: -1 }).success).toBe(false);
    expect(schema.safeParse({ count: 6 }).success).toBe(false);
  });
});

describe("lenientStringList", () => {
  it.each([
    [228, ["228"]],
    ["a", ["a"]],
    [
      ["a", 1],
      ["a", "1"],
    ],
    [null, []],
    [[], []],
  ])("takes %j as %j", (value, expected) => {
    expect(lenientStringList().parse(value)).toEqual(expected);
  });

  it.each([true, {}, [true], [["a"]]])("refuses %j", (value) => {
    expect(lenientStringList().safeParse(value).success).toBe(false);
  });
});

describe("toJsonSchema", () => {
  it("advertises the strict types, with defaults, and nothing the contract leaves out", () => {
    const schema = z.object({
      flag: lenientBoolean().default(true).describe("A flag."),
      count: lenientInteger({ min: 0 }),
      limit: absentable(lenientInteger()).meta({ description: "A limit.", default: 7 }),
      mode: absentable(z.enum(["a", "b"])),
      ids: lenientStringList(),
    });
    expect(toJsonSchema(schema)).toEqual({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        flag: { type: "boolean", default: true, description: "A flag." },
        count: { type: "integer" },
        limit: { type: ["integer", "null"], description: "A limit.", default: 7 },
        mode: { type: ["string", "null"], enum: ["a", "b", null] },
        ids: { type: "array", items: { type: "string" } },
      },
      required: ["count", "ids"],
    });
  });

  it("is the same text every time, with properties and required always there", () => {
    expect(JSON.stringify(toJsonSchema(z.object({})))).toBe(
      '{"$schema":"http://json-schema.org/draft-07/schema#","properties":{},"required":[],"type":"object"}',
    );
  });
});

describe("toInputError", () => {
  const schema = z.object({
    first: z.string(),
    second: z.number(),
    list: z.array(
      z.union([z.object({ op: z.literal("a"), x: z.string() }), z.object({ op: z.literal("b") })]),
    ),
  });
  const errorOf = (input: object) => {
    const { error } = schema.safeParse(input);
    if (error === undefined) throw new Error("the input is valid");
    return toInputError(error, JSON.parse(JSON.stringify(input)), (name) => `client_${name}`);
  };

  it("reports the first wrong parameter in the order of the schema, by its client name", () => {
    expect(errorOf({ second: "x" })).toMatchObject({
      code: ErrorCode.MISSING_REQUIRED_FIELD,
      details: { kind: "invalid_arguments", field: "client_first" },
    });
    expect(errorOf({ first: null, second: "x" })).toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      details: { field: "client_first" },
    });
  });

  it("finds the place inside lists and unions", () => {
    expect(errorOf({ first: "", second: 1, list: [{ op: "a" }] })).toMatchObject({
      code: ErrorCode.MISSING_REQUIRED_FIELD,
      details: { field: "client_list[0].x" },
    });
  });
});
