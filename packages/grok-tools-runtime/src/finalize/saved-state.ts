import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { SessionResources } from "../state/session-resources.ts";
import type { StateDocument, StateFault } from "../state/state-document.ts";
import { fitsParams } from "./check-params.ts";
import type { ConfiguredTool } from "./configured-tool.ts";
import { observersOf } from "./session-observers.ts";
import type { Violation } from "./violation.ts";

/** The violation of an initial state that cannot be read. */
export function initialStateViolation({ fault, message }: StateFault): Violation {
  return {
    toolId: "(global)",
    fieldPath: "initial_tool_state_json",
    message: `initial_tool_state_json: ${message}`,
    expected: "an object with the objects `params` and `state`",
    category: fault === "parse" ? "initial_state_parse" : "initial_state_shape",
  };
}

/**
 * Makes the resources that the tools list and hands them what was saved, initial values before those from disk, then
 * the params of the tools.
 * Returns the keys of initial values that could not be decoded.
 */
export function loadResources(
  resources: SessionResources,
  tools: readonly ConfiguredTool[],
  { disk, initial }: { disk: StateDocument; initial: StateDocument },
): string[] {
  resources.load(disk.state);
  const observers = observersOf(tools);
  for (const definition of observers.first) resources.get(definition);
  for (const { registered } of tools) {
    for (const definition of registered.tool.resources) resources.get(definition);
  }
  for (const definition of observers.last) resources.get(definition);
  const skipped = resources.load(initial.state);
  for (const { registered, params } of tools) {
    for (const definition of registered.tool.resources)
      definition.configure?.(resources.get(definition), params);
  }
  return [...skipped, ...undecodableParams(tools, initial)];
}

/** All params by state key: those of the tools as configured, those of other tools as they were saved. */
export function paramsByKey(
  tools: readonly ConfiguredTool[],
  documents: readonly StateDocument[],
): Map<string, JsonValue> {
  const params = new Map(documents.flatMap((document) => Object.entries(document.params)));
  for (const tool of tools) {
    const definition = tool.registered.tool.params;
    if (definition !== undefined) params.set(definition.stateKey, tool.params);
  }
  return params;
}

/** By state key, what differs from the defaults or was set although it does not. */
export function configuredByKey(tools: readonly ConfiguredTool[]): Map<string, JsonObject> {
  const entries = tools.flatMap(({ registered, params, explicitParams }): [string, JsonObject][] => {
    const { tool, defaultParams } = registered;
    if (tool.params === undefined) return [];
    const set = Object.entries(params).filter(
      ([key, value]) => Object.hasOwn(explicitParams, key) || !isDeepStrictEqual(value, defaultParams?.[key]),
    );
    return [[tool.params.stateKey, Object.fromEntries(set)]];
  });
  return new Map(entries);
}

function undecodableParams(tools: readonly ConfiguredTool[], initial: StateDocument): string[] {
  return tools.flatMap(({ registered }) => {
    const { params } = registered.tool;
    const saved = params === undefined ? undefined : initial.params[params.stateKey];
    if (params === undefined || saved === undefined) return [];
    const fits = isJsonObject(saved) && fitsParams(params, { ...registered.defaultParams, ...saved });
    return fits ? [] : [params.stateKey];
  });
}
