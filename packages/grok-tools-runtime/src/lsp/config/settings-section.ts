import { isJsonObject, type JsonObject, type JsonValue } from "../../json.ts";

/**
 * The part of the settings that a server asks for by a dotted name; null when there is none. Settings may be nested or
 * have names with dots, `{ "python.analysis": { … } }`.
 */
export function settingsSection(settings: unknown, section: string | undefined): JsonValue {
  if (!isJsonObject(settings)) return null;
  let found: JsonValue | undefined = nested(settings);
  for (const part of section === undefined || section === "" ? [] : section.split(".")) {
    found = isJsonObject(found) && Object.hasOwn(found, part) ? found[part] : undefined;
  }
  return found ?? null;
}

function nested(settings: JsonObject): JsonObject {
  let whole: JsonObject = {};
  for (const [name, value] of Object.entries(settings)) {
    const inner = isJsonObject(value) ? nested(value) : value;
    const grown = name
      .split(".")
      .reduceRight<JsonValue>((content, part) => Object.fromEntries([[part, content]]), inner);
    if (isJsonObject(grown)) whole = merged(whole, grown);
  }
  return whole;
}

function merged(one: JsonObject, other: JsonObject): JsonObject {
  const entries = Object.entries(other).map(([name, value]): [string, JsonValue] => {
    const known = Object.hasOwn(one, name) ? one[name] : undefined;
    return [name, isJsonObject(known) && isJsonObject(value) ? merged(known, value) : value];
  });
  return { ...one, ...Object.fromEntries(entries) };
}
