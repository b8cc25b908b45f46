import { z } from "zod";

/** A whole number in a wider sense may not be larger than this when it came as text or as a fraction. */
const MAX_EXACT = 2 ** 53;

/**
 * A boolean that also takes `"yes"`, `"no"`, `"1"`, `"0"`, `"true"`, `"false"` in any case, the numbers 1 and 0, and
 * null as false. The advertised schema shows a plain boolean. Add `.default(…)` or use {@link absentable}.
 */
export function lenientBoolean(): z.ZodType<boolean> {
  return z.preprocess(toBoolean, z.boolean());
}

/**
 * An integer that also takes a whole fraction (`120.0`) and numeric text (`"120"`, `"1e3"`). The advertised schema
 * shows a plain integer; the range is checked but not advertised. For an optional one use {@link absentable}.
 */
export function lenientInteger(range: { min?: number; max?: number } = {}): z.ZodType<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = range;
  const integer = z.number().refine((value) => Number.isInteger(value), "expected a whole number");
  return z
    .preprocess(
      toInteger,
      integer.refine(
        (value) => value >= min && value <= max,
        min === Number.MIN_SAFE_INTEGER && max === Number.MAX_SAFE_INTEGER
          ? "the number is out of range"
          : `expected a number from ${min} to ${max}`,
      ),
    )
    .meta({ type: "integer" });
}

/** Texts; also takes numbers as texts, one bare text or number as a list of one, and null as an empty list. */
export function lenientStringList(): z.ZodType<string[]> {
  return z.preprocess(toStringList, z.array(z.string()));
}

/**
 * An optional parameter: absent and null both mean undefined. The advertised schema allows null and does not
 * require the key.
 */
export function absentable<Output>(schema: z.ZodType<Output>): z.ZodType<Output | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

function toBoolean(value: unknown): unknown {
  if (value === null) return false;
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string") return value;
  const text = value.trim().toLowerCase();
  if (text === "true" || text === "yes" || text === "1") return true;
  if (text === "false" || text === "no" || text === "0") return false;
  return value;
}

function toInteger(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (!/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return value;
  const number = Number(text);
  return Math.abs(number) > MAX_EXACT ? value : number;
}

function toStringList(value: unknown): unknown {
  if (value === null) return [];
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  if (!Array.isArray(value)) return value;
  return value.map((item: unknown) => (typeof item === "number" ? String(item) : item));
}
