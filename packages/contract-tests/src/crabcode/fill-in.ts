import type { Captures } from "./matcher.ts";

/**
 * The value with its placeholders replaced: `${name}` in texts by what is stored under the name,
 * `{"$repeat": [text, count]}` by the repeated text, `{"$utf16": units}` by the text of these UTF-16 code units, lone
 * surrogates included.
 *
 * @throws for a name that nothing is stored under: a case that waits for it would compare with nothing.
 */
export function fillIn<Value>(value: Value, captures: Captures): Value {
  return fill(value, captures) as Value;
}

/** The value with its repeated texts and code units written out; texts stay as they are. */
export function writeOut<Value>(value: Value): Value {
  return fill(value, undefined) as Value;
}

function fill(value: unknown, captures: Captures | undefined): unknown {
  if (typeof value === "string") {
    if (captures === undefined) return value;
    return value.replaceAll(/\$\{([^}]*)\}/g, (whole, name: string) => {
      if (!captures.has(name)) throw new Error(`nothing is stored for ${whole}`);
      return String(captures.get(name));
    });
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, captures));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const { $repeat, $utf16 } = fields;
  if (Array.isArray($repeat)) return String($repeat[0]).repeat(Number($repeat[1]));
  if (typeof $utf16 === "string") {
    return String.fromCharCode(...$utf16.split(" ").map((unit) => Number.parseInt(unit, 16)));
  }
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, fill(one, captures)]));
}
