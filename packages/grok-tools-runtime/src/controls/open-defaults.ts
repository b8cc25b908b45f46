import type { ToolConfig, ToolConfigEntry, TruncationConfig } from "../finalize/tool-config.ts";
import type { JsonObject } from "../json.ts";
import { aliasTarget } from "../tool-registry.ts";

/** Names given to a tool before finalize. */
export interface NameDefaults {
  readonly name: string | undefined;
  readonly parameterNames: Readonly<Record<string, string>>;
}

/** Settings made before finalize: what a finalize request leaves open is filled from here. By tool id. */
export interface OpenDefaults {
  readonly disabled: Set<string>;
  readonly params: Map<string, JsonObject>;
  readonly names: Map<string, NameDefaults>;
  truncation: TruncationConfig | undefined;
  remindersEnabled: boolean;
}

/** No settings. */
export function createOpenDefaults(): OpenDefaults {
  return {
    disabled: new Set(),
    params: new Map(),
    names: new Map(),
    truncation: undefined,
    remindersEnabled: false,
  };
}

/**
 * The configuration with the defaults filled in, params excepted: those are merged key by key when they are checked.
 * The reminders flag of a request cannot be told from an absent one when it is false.
 */
export function withOpenDefaults(config: ToolConfig, defaults: OpenDefaults): ToolConfig {
  return {
    ...config,
    tools: config.tools.map((entry) => withNames(entry, defaults.names.get(aliasTarget(entry.id)))),
    truncation: config.truncation ?? defaults.truncation,
    systemRemindersEnabled: config.systemRemindersEnabled === true || defaults.remindersEnabled,
  };
}

function withNames(entry: ToolConfigEntry, names: NameDefaults | undefined): ToolConfigEntry {
  if (names === undefined) return entry;
  const hasParameterNames = Object.keys(entry.paramsNameOverrides ?? {}).length > 0;
  return {
    ...entry,
    nameOverride: entry.nameOverride ?? names.name,
    paramsNameOverrides: hasParameterNames ? entry.paramsNameOverrides : names.parameterNames,
  };
}
