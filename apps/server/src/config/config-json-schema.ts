import { z } from "zod";
import type { ConfigKey } from "./config-key.ts";
import { configKeys } from "./config-keys.ts";

type ObjectSchema = {
  type: "object";
  additionalProperties: false;
  properties: Record<string, unknown>;
};

/** The JSON Schema of `trivium.json`, for editors. Published as `trivium.schema.json`. */
export function configJsonSchema(): object {
  const root: ObjectSchema = {
    type: "object",
    additionalProperties: false,
    properties: { $schema: { type: "string" } },
  };
  for (const [name, { schema, description, default: value }] of Object.entries<ConfigKey>(configKeys)) {
    const path = name.split(".");
    const leaf = path.pop() ?? name;
    let parent = root;
    for (const part of path) {
      const existing = parent.properties[part];
      const next: ObjectSchema = isObjectSchema(existing)
        ? existing
        : { type: "object", additionalProperties: false, properties: {} };
      parent.properties[part] = next;
      parent = next;
    }
    const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: "input" });
    const isShown = value !== undefined && !(typeof value === "string" && (value === "" || value === "."));
    parent.properties[leaf] = { ...plain, description, ...(isShown && { default: value }) };
  }
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: "trivium.json", ...root };
}

function isObjectSchema(value: unknown): value is ObjectSchema {
  return typeof value === "object" && value !== null && "properties" in value;
}
