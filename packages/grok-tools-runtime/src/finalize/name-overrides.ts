import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { isToolName } from "../tool-id.ts";
import type { RegisteredTool } from "../tool-registry.ts";
import type { ToolConfigEntry } from "./tool-config.ts";
import { badValueOf, type Violation } from "./violation.ts";

/** Model APIs refuse longer names. */
const MAX_NAME_LENGTH = 64;

/** The violation of an unusable name for a tool; undefined when it may be used. */
export function checkNameOverride(entry: ToolConfigEntry, index: number): Violation | undefined {
  const { nameOverride } = entry;
  if (nameOverride === undefined) return undefined;
  if (isToolName(nameOverride) && nameOverride.length <= MAX_NAME_LENGTH) return undefined;
  return {
    entryIndex: index,
    toolId: entry.id,
    fieldPath: `tools[${index}].name_override`,
    message: `${JSON.stringify(nameOverride)} is not a tool name`,
    expected: `at most ${MAX_NAME_LENGTH} letters, digits, _ and -, with at most one colon between`,
    badValueJson: badValueOf("name_override", nameOverride),
    category: "name_override_invalid",
  };
}

/** Violations of the map from canonical to client parameter names. */
export function checkParameterOverrides(
  entry: ToolConfigEntry,
  index: number,
  { inputProperties }: RegisteredTool,
): Violation[] {
  const overrides = entry.paramsNameOverrides ?? {};
  const violation = (key: string, category: Violation["category"], message: string): Violation => ({
    entryIndex: index,
    toolId: entry.id,
    fieldPath: `tools[${index}].params_name_overrides.${key}`,
    message,
    badValueJson: badValueOf(key, overrides[key]),
    category,
  });
  const taken = new Set(inputProperties.filter((property) => !Object.hasOwn(overrides, property)));
  const violations: Violation[] = [];
  for (const [key, clientName] of Object.entries(overrides)) {
    if (!inputProperties.includes(key)) {
      const known = inputProperties.join(", ");
      violations.push(
        violation(key, "param_override_unknown", `no parameter named ${key}; there are: ${known}`),
      );
    } else if (!/^[A-Za-z0-9_.$-]{1,64}$/.test(clientName)) {
      violations.push(
        violation(key, "param_override_invalid", `${JSON.stringify(clientName)} is not a parameter name`),
      );
    } else if (taken.has(clientName)) {
      violations.push(
        violation(key, "param_override_collision", `two parameters would be named ${clientName}`),
      );
    }
    taken.add(clientName);
  }
  return violations;
}

/** The advertised schema with client names: top-level properties and `required`, nothing below. */
export function renameSchema(schema: JsonObject, overrides: Readonly<Record<string, string>>): JsonObject {
  const nameOf = (name: string): string =>
    Object.hasOwn(overrides, name) ? (overrides[name] ?? name) : name;
  const { properties, required } = schema;
  return {
    ...schema,
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]): [string, JsonValue] => [nameOf(name), value]),
      ),
    }),
    ...(Array.isArray(required) && { required: required.map((name) => nameOf(String(name))) }),
  };
}

/**
 * Input with canonical names. Names that are not renamed pass through, so the canonical spelling works too.
 *
 * @returns the names of a parameter that came in both spellings, instead of a choice between the two.
 */
export function toCanonicalInput(
  input: JsonObject,
  overrides: Readonly<Record<string, string>>,
): { input: JsonObject } | { clash: readonly [client: string, canonical: string] } {
  const canonicalOf = new Map(Object.entries(overrides).map(([canonical, client]) => [client, canonical]));
  if (canonicalOf.size === 0) return { input };
  const renamed = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(input)) {
    const canonical = canonicalOf.get(key) ?? key;
    if (renamed.has(canonical)) return { clash: [overrides[canonical] ?? canonical, canonical] };
    renamed.set(canonical, value);
  }
  return { input: Object.fromEntries(renamed) };
}
