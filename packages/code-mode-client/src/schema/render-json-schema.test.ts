import { describe, expect, it } from "vitest";
import { renderJsonSchemaToTypescript } from "./render-json-schema.ts";

const object = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });

describe("a JSON Schema as TypeScript", () => {
  it.each([
    [true, "unknown"],
    [false, "never"],
    [7, "unknown"],
    [null, "unknown"],
    [{}, "unknown"],
    [{ const: { a: [1] } }, '{"a":[1]}'],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ enum: [], type: "string" }, "string"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ oneOf: [{ const: 1 }, false] }, "1 | never"],
    [{ allOf: [{ enum: [1, 2] }, { type: "integer" }] }, "(1 | 2) & number"],
    [{ type: "money" }, "unknown"],
    [{ type: ["string", "array"], items: { type: "boolean" } }, "string | Array<boolean>"],
    [{ type: "array", items: true }, "Array<unknown>"],
    [{ prefixItems: [{ type: "string" }, {}] }, "[string, unknown]"],
    [{ type: "array" }, "unknown[]"],
    [
      object({ city: { type: "string" } }, { required: ["city"], additionalProperties: false }),
      "{ city: string; }",
    ],
    [object({ b: true, a: false }), "{ a?: never; b?: unknown; }"],
    [object({ "\ue000": true, "\u{10000}": true }), '{ "\ue000"?: unknown; "\u{10000}"?: unknown; }'],
    [{ type: "object" }, "{ [key: string]: unknown; }"],
    [{ additionalProperties: false }, "{}"],
    [{ required: ["a"] }, "{ [key: string]: unknown; }"],
    [
      object({ "a-b": {} }, { additionalProperties: { type: "number" } }),
      '{ "a-b"?: unknown; [key: string]: number; }',
    ],
    [
      object(
        { a: { type: "string", description: " first\n\n second " }, b: {} },
        { additionalProperties: true },
      ),
      "{\n  // first\n  // second\n  a?: string;\n  b?: unknown;\n  [key: string]: unknown;\n}",
    ],
    [object({ a: { description: "  " } }), "{ a?: unknown; }"],
  ])("%j is %s", (schema, type) => {
    expect(renderJsonSchemaToTypescript(schema)).toBe(type);
  });

  it.each([
    [{ $ref: "#/$defs/L", enum: ["A"], $defs: { L: { type: "string" } } }, '(string) & ("A")'],
    [{ $ref: "#/$defs/L", description: "x", $defs: { L: { type: "string" } } }, "string"],
    [{ $ref: "#/$defs/none", type: "number" }, "number"],
    [{ $ref: "other.json#/a" }, "unknown"],
    [{ $ref: "#/definitions/a~1b%20~0", definitions: { "a/b ~": { type: "null" } } }, "null"],
    [{ $ref: "#/%", "%": {} }, "unknown"],
    [{ anyOf: [{ type: "null" }, { $ref: "#/anyOf/0" }] }, "null | null"],
    [object({ next: { $ref: "#" } }), "{ next?: { next?: { next?: unknown; }; }; }"],
    [
      { $id: "root", $defs: { s: { type: "string" } }, ...object({ a: { $ref: "#/$defs/s" } }) },
      "{ a?: string; }",
    ],
    [
      {
        $defs: { s: { type: "string" } },
        ...object({ a: { $id: "inner", properties: { b: { $ref: "#/$defs/s" } } } }),
      },
      "{ a?: { b?: unknown; }; }",
    ],
  ])("follows the references of %j", (schema, type) => {
    expect(renderJsonSchemaToTypescript(schema)).toBe(type);
  });

  it("expands 32 references, dangling ones not counted", () => {
    const items = [
      ...Array.from({ length: 5 }, () => ({ $ref: "#/none" })),
      ...Array.from({ length: 33 }, () => ({ $ref: "#/$defs/s" })),
    ];
    const type = renderJsonSchemaToTypescript({ prefixItems: items, $defs: { s: { type: "string" } } });
    expect(type.match(/string/g)).toHaveLength(32);
  });

  it("gives up what is too large or costs too much", () => {
    expect(renderJsonSchemaToTypescript({ const: "x".repeat(15_998) })).toHaveLength(16_000);
    expect(renderJsonSchemaToTypescript({ const: "x".repeat(15_999) })).toBe("unknown");
    let deep: object = { const: "x".repeat(5000) };
    for (let level = 0; level < 20; level++) deep = { items: deep };
    expect(renderJsonSchemaToTypescript(deep)).toBe("unknown");
    let endless: object = {};
    for (let level = 0; level < 100_000; level++) endless = { items: endless };
    expect(renderJsonSchemaToTypescript(endless)).toBe("unknown");
  });
});
