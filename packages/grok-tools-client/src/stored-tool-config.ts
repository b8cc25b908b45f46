import { create } from "@bufbuild/protobuf";
import { TriviumError } from "@trivium/core";
import { type ToolConfigEntry, ToolConfigEntrySchema } from "@trivium/proto/grok-tools";

/**
 * A configuration entry as it is kept in files. Other programs write the same form: snake_case keys, and null for
 * optional texts that are absent.
 */
export interface StoredToolConfigEntry {
  readonly id: string;
  readonly params_json: string | null;
  readonly name_override: string | null;
  readonly params_name_overrides: Readonly<Record<string, string>>;
  readonly behavior_version: string | null;
  readonly description_override: string | null;
}

const textKeys = ["params_json", "name_override", "behavior_version", "description_override"] as const;

/**
 * Reads a stored entry. Absent keys and null mean the same for optional texts; null is not accepted for
 * `params_name_overrides`.
 *
 * @throws {@link TriviumError} `invalidInput` naming the key.
 */
export function toolConfigEntryFromJson(value: unknown): ToolConfigEntry {
  if (!isRecord(value)) throw new TriviumError("invalidInput", "a tool configuration entry is not an object");
  const { id, params_name_overrides: overrides = {} } = value;
  if (typeof id !== "string") throw new TriviumError("invalidInput", "the `id` of an entry is not a text");
  const texts = textKeys.map((key) => {
    const text = value[key] ?? undefined;
    if (text === undefined || typeof text === "string") return text;
    throw new TriviumError("invalidInput", `\`${key}\` of ${id} is not a text`);
  });
  const [paramsJson, nameOverride, behaviorVersion, descriptionOverride] = texts;
  return create(ToolConfigEntrySchema, {
    id,
    paramsNameOverrides: toTextMap(overrides, id),
    ...(paramsJson !== undefined && { paramsJson }),
    ...(nameOverride !== undefined && { nameOverride }),
    ...(behaviorVersion !== undefined && { behaviorVersion }),
    ...(descriptionOverride !== undefined && { descriptionOverride }),
  });
}

/** The stored form of an entry. */
export function toolConfigEntryToJson(entry: ToolConfigEntry): StoredToolConfigEntry {
  return {
    id: entry.id,
    params_json: entry.paramsJson ?? null,
    name_override: entry.nameOverride ?? null,
    params_name_overrides: { ...entry.paramsNameOverrides },
    behavior_version: entry.behaviorVersion ?? null,
    description_override: entry.descriptionOverride ?? null,
  };
}

function toTextMap(value: unknown, id: string): Record<string, string> {
  const refuse = (): never => {
    throw new TriviumError("invalidInput", `\`params_name_overrides\` of ${id} is not an object of texts`);
  };
  if (!isRecord(value)) return refuse();
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => [key, typeof text === "string" ? text : refuse()]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
