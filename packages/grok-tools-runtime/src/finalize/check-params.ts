import type { z } from "zod";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { ParamsDefinition } from "../tool-params.ts";
import { badValueOf, type Violation } from "./violation.ts";

/** A violation before it is tied to an entry. */
export type ParamsViolation = Omit<Violation, "entryIndex" | "toolId">;

/** The keys the request sets, checked alone against the tool's params. */
export interface CheckedParams {
  readonly explicit: JsonObject;
  readonly violations: readonly ParamsViolation[];
  /** Keys of a lenient definition that mean nothing. */
  readonly ignoredKeys: readonly string[];
}

/** Checks the params a request gives a tool. A tool without params takes only an empty object. */
export function checkParams(definition: ParamsDefinition | undefined, given: JsonObject): CheckedParams {
  const known = definition === undefined ? new Set<string>() : knownKeys(definition);
  const unknown = Object.keys(given).filter((key) => !known.has(key));
  const isStrict = definition?.strict ?? true;
  const explicit = Object.fromEntries(Object.entries(given).filter(([key]) => known.has(key)));
  const violations = [
    ...(isStrict ? unknown.map((key) => unknownField(key, [...known], given)) : []),
    ...(definition === undefined ? [] : decodingProblems(definition, explicit)),
  ];
  return { explicit, violations, ignoredKeys: isStrict ? [] : unknown };
}

/** Breaches of the rules between keys. */
export function checkConstraints(definition: ParamsDefinition, effective: JsonObject): ParamsViolation[] {
  const parsed = definition.schema.safeParse(effective);
  if (!parsed.success || definition.check === undefined) return [];
  return definition.check(parsed.data).map(({ key, expected, message }) => ({
    category: "params_constraint",
    fieldPath: `params.${key}`,
    message,
    expected,
    badValueJson: badValueOf(key, effective[key]),
  }));
}

/** Whether a value from saved state fits the definition. */
export function fitsParams(definition: ParamsDefinition, params: JsonObject): boolean {
  return definition.schema.safeParse(params).success;
}

function knownKeys(definition: ParamsDefinition): Set<string> {
  const defaults: unknown = definition.schema.parse({});
  return new Set(isJsonObject(defaults) ? Object.keys(defaults) : []);
}

function unknownField(key: string, known: readonly string[], given: JsonObject): ParamsViolation {
  return {
    category: "params_unknown_field",
    fieldPath: `params.${key}`,
    message: `no parameter named ${key}`,
    expected: known.length === 0 ? "no parameters" : `one of: ${known.join(", ")}`,
    badValueJson: badValueOf(key, given[key]),
  };
}

function decodingProblems(definition: ParamsDefinition, explicit: JsonObject): ParamsViolation[] {
  const result = definition.schema.safeParse(explicit);
  if (result.success) return [];
  return result.error.issues.map((issue) => toViolation(issue, explicit));
}

function toViolation(issue: z.core.$ZodIssue, explicit: JsonObject): ParamsViolation {
  const path = issue.path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("");
  const value = valueAt(explicit, issue.path);
  const base = {
    fieldPath: `params${path}`,
    message: `params${path}: ${issue.message}`,
    badValueJson: badValueOf(issue.path.join("."), value),
  };
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest are rules on values
  switch (issue.code) {
    case "invalid_type":
      if (value === undefined)
        return { ...base, category: "params_missing_field", expected: phrase(issue.expected) };
      return { ...base, category: "params_type", expected: phrase(issue.expected) };
    case "invalid_value":
      if (typeof value !== "string") return { ...base, category: "params_type", expected: "a string" };
      return {
        ...base,
        category: "params_unknown_variant",
        expected: issue.values.map((variant) => `"${String(variant)}"`).join(", "),
      };
    case "unrecognized_keys":
      return { ...base, category: "params_unknown_field" };
    case "invalid_union":
      return { ...base, category: "params_type" };
    default:
      return { ...base, category: "params_invalid", expected: issue.message };
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const part of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, part);
  }
  return found;
}

function phrase(type: string): string {
  const phrases: Readonly<Record<string, string>> = {
    boolean: "a boolean",
    string: "a string",
    number: "a number",
    int: "an integer",
    array: "a list",
    object: "an object",
    record: "an object",
  };
  return phrases[type] ?? type;
}
