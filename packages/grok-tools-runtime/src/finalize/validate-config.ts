import type { JsonObject } from "../json.ts";
import { isJsonObject } from "../json.ts";
import type { StateDocument } from "../state/state-document.ts";
import { defaultClientName } from "../tool-id.ts";
import type { RegisteredTool, ToolRegistry } from "../tool-registry.ts";
import { type BehaviorPreset, findPreset, resolveVersion } from "./behavior-versions.ts";
import { checkConstraints, checkParams, fitsParams, type ParamsViolation } from "./check-params.ts";
import { checkRequest } from "./check-request.ts";
import { checkWholeToolset } from "./check-toolset.ts";
import { checkParameterOverrides } from "./name-overrides.ts";
import type { ResolvedEntry, ToolConfig } from "./tool-config.ts";
import { badValueOf, FinalizeConfigError, type Violation } from "./violation.ts";

/** A configuration that passed every check. */
export interface ValidConfig {
  readonly entries: readonly ResolvedEntry[];
  readonly preset: BehaviorPreset;
  /** Tokens for the response, for example `ignored_param:x`. */
  readonly warnings: readonly string[];
}

/** What a configuration is checked against. */
export interface ValidationContext {
  readonly registry: ToolRegistry;
  readonly presets: readonly BehaviorPreset[];
  /** From `initial_tool_state_json`: fills params that the request leaves open. */
  readonly initialState: StateDocument;
  /** Params set before finalize, by tool id: below those of the request. */
  readonly openParams: ReadonlyMap<string, JsonObject>;
}

/**
 * Checks a configuration in phases; each collects all its violations and only a clean one lets the next begin.
 *
 * @throws {@link FinalizeConfigError} with the violations of the first phase that has any.
 */
export function validateConfig(config: ToolConfig, context: ValidationContext): ValidConfig {
  const decoded = checkRequest(config);
  stopOn(decoded.violations);
  const preset = findPreset(config.behaviorPreset, context.presets);
  if ("reason" in preset)
    throw new FinalizeConfigError([presetViolation(config.behaviorPreset, preset.reason)]);
  const warnings: string[] = [];
  const results = config.tools.map((_, index) =>
    resolveEntry({ config, context, index, given: decoded.params[index] ?? {}, ...preset, warnings }),
  );
  stopOn(results.flatMap((result) => ("violations" in result ? result.violations : [])));
  const entries = withSharedParams(
    results.flatMap((result) => ("resolved" in result ? [result.resolved] : [])),
  );
  for (const violations of checkWholeToolset(entries)) stopOn(violations);
  return { entries, preset: preset.preset, warnings };
}

function stopOn(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new FinalizeConfigError(violations);
}

function presetViolation(name: string | undefined, message: string): Violation {
  return {
    toolId: "(global)",
    fieldPath: "behavior_preset",
    message,
    badValueJson: badValueOf("behavior_preset", name),
    category: "behavior_preset",
  };
}

interface EntryRequest {
  readonly config: ToolConfig;
  readonly context: ValidationContext;
  readonly index: number;
  readonly given: JsonObject;
  readonly preset: BehaviorPreset;
  readonly warnings: string[];
}

type EntryResult = { readonly resolved: ResolvedEntry } | { readonly violations: readonly Violation[] };

function resolveEntry({ config, context, index, given, preset, warnings }: EntryRequest): EntryResult {
  const entry = config.tools[index];
  if (entry === undefined) return { violations: [] };
  const refuse = (violation: ParamsViolation): Violation => ({
    entryIndex: index,
    toolId: entry.id,
    ...violation,
  });
  const registered = context.registry.find(entry.id);
  if (registered === undefined) return { violations: [refuse(unknownTool(entry.id, context.registry))] };
  const version = resolveVersion(registered.tool, preset, entry.behaviorVersion);
  if ("reason" in version) {
    const violation = refuse({
      fieldPath: "behavior_version",
      message: version.reason,
      badValueJson: badValueOf("behavior_version", entry.behaviorVersion),
      category: "behavior_version",
    });
    return { violations: [violation] };
  }
  const { params } = registered.tool;
  const checked = checkParams(params, { ...context.openParams.get(registered.tool.id), ...given });
  if (checked.violations.length > 0) return { violations: checked.violations.map(refuse) };
  const effectiveParams = overlay(registered, checked.explicit, context.initialState);
  const constraints = params === undefined ? [] : checkConstraints(params, effectiveParams);
  if (constraints.length > 0) return { violations: constraints.map(refuse) };
  const overrides = checkParameterOverrides(entry, index, registered);
  if (overrides.length > 0) return { violations: overrides };
  warnings.push(...checked.ignoredKeys.map((key) => `ignored_param:${key}`));
  return {
    resolved: {
      index,
      entry,
      registered,
      clientName: entry.nameOverride ?? defaultClientName(entry.id),
      behaviorVersion: version.version,
      explicitParams: checked.explicit,
      effectiveParams,
    },
  };
}

/** Tools with one state key have one set of params: an entry that sets none takes those of the entry that does. */
function withSharedParams(entries: readonly ResolvedEntry[]): ResolvedEntry[] {
  return entries.map((current) => {
    const stateKey = current.registered.tool.params?.stateKey;
    if (stateKey === undefined || current.entry.paramsJson !== undefined) return current;
    const source = entries.find(
      ({ registered, entry }) =>
        registered.tool.params?.stateKey === stateKey && entry.paramsJson !== undefined,
    );
    if (source === undefined) return current;
    const { explicitParams, effectiveParams } = source;
    return { ...current, explicitParams, effectiveParams };
  });
}

function unknownTool(id: string, registry: ToolRegistry): ParamsViolation {
  const suggestions = registry.suggestIds(id);
  return {
    fieldPath: "id",
    message: `no tool has the id ${id}`,
    expected: suggestions.length === 0 ? undefined : suggestions.join(", "),
    badValueJson: badValueOf("id", id),
    category: "tool_not_found",
  };
}

/** Defaults, then what the initial state says, then what the request says; each top-level key as a whole. */
function overlay(
  { tool, defaultParams }: RegisteredTool,
  explicit: JsonObject,
  initial: StateDocument,
): JsonObject {
  if (tool.params === undefined || defaultParams === undefined) return {};
  const { stateKey, explicitOnlyKeys = [] } = tool.params;
  const saved = Object.hasOwn(initial.params, stateKey) ? initial.params[stateKey] : undefined;
  const fromState = isJsonObject(saved)
    ? Object.fromEntries(
        Object.entries(saved).filter(
          ([key]) => Object.hasOwn(defaultParams, key) && !explicitOnlyKeys.includes(key),
        ),
      )
    : {};
  const usable = fitsParams(tool.params, { ...defaultParams, ...fromState }) ? fromState : {};
  return { ...defaultParams, ...usable, ...explicit };
}
