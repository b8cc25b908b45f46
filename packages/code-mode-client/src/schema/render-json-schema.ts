import { toPropertyName } from "../tools/property-name.ts";
import { findReference, isJsonObject, type JsonObject } from "./schema-reference.ts";

const UNKNOWN = "unknown";
const MAX_RESULT_BYTES = 16_000;
/** Bytes of all texts that are made on the way. */
const MAX_WORK_BYTES = 64_000;
const MAX_EXPANSIONS = 32;
/** How often one reference may be open inside itself. */
const MAX_ACTIVE = 2;

const simpleTypes = new Map([
  ["string", "string"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
  ["null", "null"],
]);

const encoder = new TextEncoder();

/**
 * A JSON Schema as a TypeScript type, for people and models to read. What has no short form becomes `unknown`.
 *
 * It never throws: recursion, references and size are limited.
 */
export function renderJsonSchemaToTypescript(schema: unknown): string {
  try {
    const text = new SchemaRenderer(schema).render(schema, false);
    return encoder.encode(text).length > MAX_RESULT_BYTES ? UNKNOWN : text;
  } catch (thrown) {
    // Stack overflows come from schemas nested without references.
    if (thrown instanceof WorkExhausted || thrown instanceof RangeError) return UNKNOWN;
    throw thrown;
  }
}

class WorkExhausted extends Error {
  override readonly name: string = "WorkExhausted";
}

class SchemaRenderer {
  readonly #root: unknown;
  readonly #active = new Map<string, number>();
  #expansions = 0;
  #workBytes = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** @param isRebased the schema lies below one with an `$id`: references mean something else there */
  render(schema: unknown, isRebased: boolean): string {
    if (schema === false) return "never";
    if (!isJsonObject(schema)) return UNKNOWN;
    const isBelowId = isRebased || (schema !== this.#root && Object.hasOwn(schema, "$id"));
    const reference = schema["$ref"];
    return this.#worked(
      typeof reference === "string"
        ? this.#renderReference(schema, reference, isBelowId)
        : this.#renderKeywords(schema, isBelowId),
    );
  }

  #worked(text: string): string {
    this.#workBytes += encoder.encode(text).length;
    if (this.#workBytes > MAX_WORK_BYTES) throw new WorkExhausted();
    return text;
  }

  #renderReference(schema: JsonObject, reference: string, isRebased: boolean): string {
    const target = isRebased ? UNKNOWN : this.#expand(reference);
    const { $ref: _ref, $defs: _defs, definitions: _definitions, ...siblings } = schema;
    const rest = this.#renderKeywords(siblings, isRebased);
    if (rest === UNKNOWN) return target;
    return target === UNKNOWN ? rest : `(${target}) & (${rest})`;
  }

  #expand(reference: string): string {
    const found = findReference(this.#root, reference);
    const active = this.#active.get(reference) ?? 0;
    if (found === undefined || active >= MAX_ACTIVE || this.#expansions >= MAX_EXPANSIONS) return UNKNOWN;
    this.#expansions++;
    this.#active.set(reference, active + 1);
    const text = this.render(found.target, false);
    this.#active.set(reference, active);
    return text;
  }

  #renderKeywords(schema: JsonObject, isRebased: boolean): string {
    if (Object.hasOwn(schema, "const")) return toJson(schema["const"]);
    const values = nonEmptyList(schema["enum"]);
    if (values !== undefined) return values.map(toJson).join(" | ");
    const either = nonEmptyList(schema["anyOf"]) ?? nonEmptyList(schema["oneOf"]);
    if (either !== undefined) return either.map((one) => this.render(one, isRebased)).join(" | ");
    const all = nonEmptyList(schema["allOf"]);
    if (all !== undefined) {
      const parts = all.map((one) => this.render(one, isRebased));
      return parts.map((part) => (part.includes(" | ") ? `(${part})` : part)).join(" & ");
    }
    const { type } = schema;
    if (typeof type === "string") return this.#renderType(schema, type, isRebased);
    const types = Array.isArray(type) ? type.filter((one) => typeof one === "string") : [];
    if (types.length > 0) return types.map((one) => this.#renderType(schema, one, isRebased)).join(" | ");
    if (["properties", "additionalProperties", "required"].some((key) => Object.hasOwn(schema, key))) {
      return this.#renderObject(schema, isRebased);
    }
    if (["items", "prefixItems"].some((key) => Object.hasOwn(schema, key))) {
      return this.#renderArray(schema, isRebased);
    }
    return UNKNOWN;
  }

  #renderType(schema: JsonObject, type: string, isRebased: boolean): string {
    if (type === "object") return this.#renderObject(schema, isRebased);
    if (type === "array") return this.#renderArray(schema, isRebased);
    return simpleTypes.get(type) ?? UNKNOWN;
  }

  #renderArray(schema: JsonObject, isRebased: boolean): string {
    if (Object.hasOwn(schema, "items")) return `Array<${this.render(schema["items"], isRebased)}>`;
    const prefix = nonEmptyList(schema["prefixItems"]);
    if (prefix !== undefined) return `[${prefix.map((one) => this.render(one, isRebased)).join(", ")}]`;
    return "unknown[]";
  }

  #renderObject(schema: JsonObject, isRebased: boolean): string {
    const properties = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
    properties.sort(([left], [right]) => compareCodePoints(left, right));
    const required = new Set(nonEmptyList(schema["required"]) ?? []);
    const rest = this.#renderRest(schema, { isEmpty: properties.length === 0, isRebased });
    const members = properties.map(([name, property]) => {
      const key = toPropertyName(name) === name ? name : JSON.stringify(name);
      const member = `${key}${required.has(name) ? "" : "?"}: ${this.render(property, isRebased)};`;
      return { comments: commentLines(property), member };
    });
    if (rest !== undefined) members.push({ comments: [], member: rest });
    if (members.length === 0) return "{}";
    if (members.every(({ comments }) => comments.length === 0)) {
      return `{ ${members.map(({ member }) => member).join(" ")} }`;
    }
    const lines = members.flatMap(({ comments, member }) => [
      ...comments.map((line) => `  // ${line}`),
      `  ${member}`,
    ]);
    return ["{", ...lines, "}"].join("\n");
  }

  #renderRest(
    schema: JsonObject,
    { isEmpty, isRebased }: { isEmpty: boolean; isRebased: boolean },
  ): string | undefined {
    const additional = schema["additionalProperties"];
    if (additional === false || (additional === undefined && !isEmpty)) return undefined;
    return `[key: string]: ${additional === undefined ? UNKNOWN : this.render(additional, isRebased)};`;
  }
}

function nonEmptyList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value : undefined;
}

function toJson(value: unknown): string {
  return JSON.stringify(value) ?? UNKNOWN;
}

function commentLines(property: unknown): string[] {
  const description = isJsonObject(property) ? property["description"] : undefined;
  if (typeof description !== "string") return [];
  return description.split(/\r?\n/).flatMap((line) => line.trim() || []);
}

function compareCodePoints(left: string, right: string): number {
  const rightPoints = Array.from(right);
  for (const [index, character] of Array.from(left).entries()) {
    const other = rightPoints[index];
    if (other === undefined) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
