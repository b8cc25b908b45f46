import { z } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/**
 * The JSON Schema (draft-07) of a zod schema, as the contract wants it: sub-schemas inlined, no `title` or
 * `description` at the root, `properties` and `required` always present for objects, optional fields as
 * `"type": ["x", "null"]`. The same schema gives the same text every time.
 */
export function toJsonSchema(schema: z.ZodType, direction: "input" | "output" = "input"): JsonObject {
  const document: unknown = z.toJSONSchema(schema, {
    target: "draft-7",
    io: direction,
    reused: "inline",
    cycles: "throw",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const value = advertisedDefault(zodSchema);
      if (value !== undefined && jsonSchema.default === undefined) jsonSchema.default = value;
    },
  });
  if (!isJsonObject(document)) throw new TypeError("a JSON Schema is an object");
  const { $schema: _dialect, title: _title, description: _description, ...rest } = tidy(document);
  const isObject = rest["type"] === "object";
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...(isObject && { properties: {}, required: [] }),
    ...rest,
  };
}

/** Zod drops the defaults of fields that are converted; they are part of what the contract advertises. */
function advertisedDefault(schema: z.core.$ZodTypes): JsonValue | undefined {
  const meta: unknown = z.globalRegistry.get(schema)?.["default"];
  if (meta !== undefined) return toJsonValue(meta);
  return schema._zod.def.type === "default" ? toJsonValue(schema._zod.def.defaultValue) : undefined;
}

function toJsonValue(value: unknown): JsonValue {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse gives nothing else
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function tidy(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => [key, tidyValue(value)]);
  const tidied: JsonObject = Object.fromEntries(entries);
  return withoutSafeIntegerBounds(mergedNull(tidied));
}

function tidyValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(tidyValue);
  return isJsonObject(value) ? tidy(value) : value;
}

/** `anyOf: [X, null]` with a simple X becomes X with two types. */
function mergedNull(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [inner, nothing]: JsonValue[] = anyOf;
  if (!isJsonObject(inner) || !isJsonObject(nothing) || nothing["type"] !== "null") return schema;
  if (typeof inner["type"] !== "string") return schema;
  const values = inner["enum"];
  return {
    ...inner,
    type: [inner["type"], "null"],
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...rest,
  };
}

/** Zod states the range in which integers are exact; the contract's schemas have plain integers. */
function withoutSafeIntegerBounds(schema: JsonObject): JsonObject {
  const { minimum, maximum, ...rest } = schema;
  return {
    ...rest,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  };
}
