import { z } from "zod";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Rules that are left to the server: `format` is a remark in JSON Schema, with which servers mean different things, and
 * the time that a pattern takes is up to whoever wrote it.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(["format", "pattern"]);

/**
 * A check of arguments against the JSON Schema of a tool; it gives what is wrong with them. A schema that says more than
 * can be checked here is left to the server.
 */
export function inputCheck(schema: Schema): (input: unknown) => string | undefined {
  let checked: z.ZodType;
  try {
    checked = z.fromJSONSchema(checkable(schema));
  } catch {
    return () => undefined;
  }
  return (input) => {
    const { error } = checked.safeParse(input);
    if (error === undefined) return undefined;
    return error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
      .join("; ");
  };
}

/** @throws Error for names by pattern: without them others would be refused */
function checkable(schema: Schema): Schema {
  if ("patternProperties" in schema) throw new Error("not checked here");
  return Object.fromEntries(
    Object.entries(schema)
      // A property may have such a name; what it says is an object then.
      .filter(([key, value]) => !LEFT_OUT.has(key) || typeof value !== "string")
      .map(([key, value]) => [key, checkableValue(value)]),
  );
}

function checkableValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(checkableValue);
  return typeof value === "object" && value !== null ? checkable({ ...value }) : value;
}
