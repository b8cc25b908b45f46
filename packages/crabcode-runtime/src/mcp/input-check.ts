import { z } from "zod";
import { schemaSize } from "./schema-size.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Rules that are left to the server: `format` is a remark in JSON Schema, with which servers mean different things, and
 * the time that a pattern takes is up to whoever wrote it.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(["format", "pattern"]);

/** A check takes time for every part of a schema; servers write what they like. */
const MAX_PARTS = 10_000;

/**
 * A check of arguments against the JSON Schema of a tool; it gives what is wrong with them. A schema that says more than
 * can be checked here is left to the server. Never throws.
 */
export function inputCheck(schema: Schema): (input: unknown) => string | undefined {
  let checked: z.ZodType;
  try {
    if (schemaSize(schema, MAX_PARTS) > MAX_PARTS) return () => undefined;
    checked = z.fromJSONSchema(checkable(schema));
  } catch {
    return () => undefined;
  }
  return (input) => {
    let error: z.ZodError | undefined;
    try {
      ({ error } = checked.safeParse(input));
    } catch {
      // Nested too deeply, for example.
      return undefined;
    }
    if (error === undefined) return undefined;
    return error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
      .join("; ");
  };
}

/** @throws Error for what would refuse more than the schema does */
function checkable(schema: Schema): Schema {
  // Without the names by pattern others would be refused.
  if ("patternProperties" in schema) throw new Error("not checked here");
  const { const: value, enum: values } = schema;
  // Two equal objects are not the same one.
  if (isObject(value) || (Array.isArray(values) && values.some(isObject)))
    throw new Error("not checked here");
  return Object.fromEntries(
    Object.entries(schema)
      // A property may have such a name; what it says is an object then.
      .filter(([key, rule]) => !LEFT_OUT.has(key) || typeof rule !== "string")
      // Which of them it is may depend on rules that are left out.
      .map(([key, rule]) => [key === "oneOf" && Array.isArray(rule) ? "anyOf" : key, checkableValue(rule)]),
  );
}

function checkableValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(checkableValue);
  return isObject(value) ? checkable({ ...value }) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
