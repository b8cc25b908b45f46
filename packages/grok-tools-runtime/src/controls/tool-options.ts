import { TriviumError } from "@trivium/core";
import { checkConstraints, checkParams, type ParamsViolation } from "../finalize/check-params.ts";
import { createToolsetView } from "../finalize/toolset-view.ts";
import { FinalizeConfigError } from "../finalize/violation.ts";
import { currentParams, type FinalizedToolset } from "../finalized-toolset.ts";
import type { JsonObject } from "../json.ts";
import { shownParams } from "../tool-params.ts";
import type { RegisteredTool } from "../tool-registry.ts";

/** The options of a tool. The first three are empty objects for a tool without params. */
export interface ToolOptions {
  /** Defaults overlaid with what was configured. */
  readonly effective: JsonObject;
  readonly defaults: JsonObject;
  readonly configured: JsonObject;
  readonly schema: JsonObject | undefined;
}

/** Reads the options of a tool with these configured params. */
export function toToolOptions(
  { defaultParams = {}, paramsSchema }: RegisteredTool,
  configured: JsonObject,
): ToolOptions {
  return {
    effective: { ...defaultParams, ...configured },
    defaults: defaultParams,
    configured,
    schema: paramsSchema,
  };
}

/** Options as they may be shown: without secrets. */
export function shownOptions(
  { params }: Pick<RegisteredTool["tool"], "params">,
  options: ToolOptions,
): ToolOptions {
  return {
    ...options,
    effective: shownParams(params, options.effective),
    configured: shownParams(params, options.configured),
  };
}

/**
 * The options after a change, checked like `params_json`.
 *
 * @throws {@link FinalizeConfigError} with the same categories.
 */
export function changedOptions(
  registered: RegisteredTool,
  { configured, given, replace }: { configured: JsonObject; given: JsonObject; replace: boolean },
): ToolOptions {
  const { tool } = registered;
  const checked = checkParams(tool.params, given);
  refuse(tool.id, checked.violations);
  const options = toToolOptions(
    registered,
    replace ? checked.explicit : { ...configured, ...checked.explicit },
  );
  if (tool.params !== undefined) refuse(tool.id, checkConstraints(tool.params, options.effective));
  return options;
}

/**
 * The configured params without some keys; without all when none are named.
 *
 * @throws {@link TriviumError} `invalidInput` for a key the tool does not have.
 */
export function withoutKeys(
  { tool, defaultParams = {} }: RegisteredTool,
  configured: JsonObject,
  keys: readonly string[],
): JsonObject {
  const unknown = keys.filter((key) => !Object.hasOwn(defaultParams, key));
  if (unknown.length > 0) {
    const known = Object.keys(defaultParams).join(", ");
    throw new TriviumError(
      "invalidInput",
      `${tool.id} has no option ${unknown.join(", ")}; there are: ${known}`,
    );
  }
  if (keys.length === 0) return {};
  return Object.fromEntries(Object.entries(configured).filter(([key]) => !keys.includes(key)));
}

/**
 * Checks that the toolset is still complete when a tool has other params.
 *
 * @throws {@link FinalizeConfigError} of the category `requirements`.
 */
export function checkLiveChange(toolset: FinalizedToolset, stateKey: string, effective: JsonObject): void {
  const proposed = toolset.tools.map((configured) => {
    const { tool, inputProperties } = configured.registered;
    const values = tool.params?.stateKey === stateKey ? effective : currentParams(toolset, configured);
    return { tool, inputProperties, params: tool.params?.schema.parse(values) };
  });
  const view = createToolsetView(proposed);
  for (const { tool, params } of proposed) {
    const failure = tool.requires({ params, toolset: view });
    if (failure !== undefined) refuse(tool.id, [{ ...failure, category: "requirements" }]);
  }
}

function refuse(toolId: string, violations: readonly ParamsViolation[]): void {
  if (violations.length === 0) return;
  throw new FinalizeConfigError(violations.map((violation) => ({ toolId, ...violation })));
}
