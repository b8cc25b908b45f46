import { TriviumError } from "@trivium/core";
import { factsBeforeFinalize } from "../catalogue/backend-facts.ts";
import { missingDependency } from "../catalogue/to-tool-card.ts";
import { checkTruncation } from "../finalize/check-request.ts";
import type { ConfiguredTool } from "../finalize/configured-tool.ts";
import { checkNameOverride, checkParameterOverrides } from "../finalize/name-overrides.ts";
import type { TruncationConfig } from "../finalize/tool-config.ts";
import { FinalizeConfigError, type Violation } from "../finalize/violation.ts";
import { type FinalizedToolset, snapshotState } from "../finalized-toolset.ts";
import type { JsonObject } from "../json.ts";
import type { RuntimePorts } from "../runtime-ports.ts";
import { findConfigured, findRegistered } from "../tool-listing.ts";
import { createOpenDefaults, type OpenDefaults } from "./open-defaults.ts";
import {
  changedOptions,
  checkLiveChange,
  shownOptions,
  type ToolOptions,
  toToolOptions,
  withoutKeys,
} from "./tool-options.ts";

/** The answer to a switch. */
export interface ControlOutcome {
  readonly success: boolean;
  readonly message: string;
}

/**
 * Settings of a session apart from finalize. Before finalize they are defaults for it; afterwards those that can
 * change apply from the next call on, without changing descriptions.
 *
 * Tools are named as in {@link ToolSession.toolInfo}; every method throws {@link TriviumError} `notFound` for others.
 */
export class SessionControls {
  /** Read by finalize. */
  readonly openDefaults: OpenDefaults = createOpenDefaults();
  readonly #ports: RuntimePorts;
  readonly #toolset: () => FinalizedToolset | undefined;

  /** @internal Made by the session. `toolset` throws when the session is closed. */
  constructor(ports: RuntimePorts, toolset: () => FinalizedToolset | undefined) {
    this.#ports = ports;
    this.#toolset = toolset;
  }

  /** Lets a tool run, or answers calls of it with TOOL_DISABLED. Running calls go on. */
  setEnabled(name: string, isEnabled: boolean): ControlOutcome {
    const toolset = this.#toolset();
    if (toolset !== undefined) {
      const { clientName } = findConfigured(toolset, name);
      return toggle(toolset.disabled, clientName, isEnabled);
    }
    const registered = findRegistered(this.#ports, name);
    const missing = missingDependency(registered, factsBeforeFinalize(this.#ports));
    if (isEnabled && missing !== undefined) {
      const setting = registered.tool.dependency?.setting ?? missing;
      return { success: false, message: `${name} needs the setting ${setting}` };
    }
    return toggle(this.openDefaults.disabled, registered.tool.id, isEnabled);
  }

  /** The options of a tool, without secrets, as after a change. */
  options(name: string): ToolOptions {
    const toolset = this.#toolset();
    if (toolset === undefined) {
      const registered = findRegistered(this.#ports, name);
      const { tool } = registered;
      return shownOptions(tool, toToolOptions(registered, this.openDefaults.params.get(tool.id) ?? {}));
    }
    const configured = findConfigured(toolset, name);
    const { registered } = configured;
    return shownOptions(registered.tool, toToolOptions(registered, configuredParams(toolset, configured)));
  }

  /**
   * Changes the options of a tool, and of those that share them.
   *
   * @throws {@link FinalizeConfigError} when they are not valid or would leave the toolset incomplete.
   */
  setOptions(name: string, given: JsonObject, replace: boolean): ToolOptions {
    return this.#change(name, (registered, configured) =>
      changedOptions(registered, { configured, given, replace }),
    );
  }

  /** Takes configured options back: the named keys, or all. @throws {@link TriviumError} `invalidInput` for unknown keys. */
  resetOptions(name: string, keys: readonly string[]): ToolOptions {
    return this.#change(name, (registered, configured) =>
      toToolOptions(registered, withoutKeys(registered, configured, keys)),
    );
  }

  /**
   * Names for the model, used at finalize by entries without their own. An empty name or map clears that part.
   *
   * @throws {@link TriviumError} `failedPrecondition` after finalize; {@link FinalizeConfigError} for unusable names.
   */
  setNames(name: string, toolName: string, parameterNames: Readonly<Record<string, string>>): void {
    const registered = this.#findOpen(name);
    const nameOverride = toolName === "" ? undefined : toolName;
    const entry = { id: registered.tool.id, nameOverride, paramsNameOverrides: parameterNames };
    const badName = checkNameOverride(entry, 0);
    const violations = [
      ...(badName === undefined ? [] : [badName]),
      ...checkParameterOverrides(entry, 0, registered),
    ];
    refuse(violations.map(({ entryIndex: _index, ...violation }) => violation));
    this.openDefaults.names.set(registered.tool.id, { name: nameOverride, parameterNames });
  }

  /** Takes the names of a tool back. @throws {@link TriviumError} `failedPrecondition` after finalize. */
  clearNames(name: string): void {
    this.openDefaults.names.delete(this.#findOpen(name).tool.id);
  }

  get remindersEnabled(): boolean {
    return (this.#toolset() ?? this.openDefaults).remindersEnabled;
  }

  /** Switches reminders. False: the toolset does not allow them. */
  setReminders(isEnabled: boolean): boolean {
    const toolset = this.#toolset();
    if (toolset === undefined) {
      this.openDefaults.remindersEnabled = isEnabled;
      return true;
    }
    const isConcise = toolset.tools.some(({ registered }) => registered.namespace === "GrokBuildConcise");
    if (isEnabled && isConcise) return false;
    toolset.remindersEnabled = isEnabled;
    return true;
  }

  /** Limits as configured; undefined: none. */
  get truncation(): TruncationConfig | undefined {
    return (this.#toolset() ?? this.openDefaults).truncation;
  }

  /** Replaces the limits. @throws {@link FinalizeConfigError} for values out of range. */
  setTruncation(truncation: TruncationConfig): void {
    refuse(checkTruncation(truncation));
    (this.#toolset() ?? this.openDefaults).truncation = truncation;
  }

  #change(
    name: string,
    change: (registered: ConfiguredTool["registered"], configured: JsonObject) => ToolOptions,
  ): ToolOptions {
    const toolset = this.#toolset();
    if (toolset === undefined) {
      const registered = findRegistered(this.#ports, name);
      const { id } = registered.tool;
      const options = change(registered, this.openDefaults.params.get(id) ?? {});
      this.openDefaults.params.set(id, options.configured);
      return shownOptions(registered.tool, options);
    }
    const configured = findConfigured(toolset, name);
    const options = change(configured.registered, configuredParams(toolset, configured));
    const stateKey = configured.registered.tool.params?.stateKey;
    if (stateKey === undefined) return options;
    checkLiveChange(toolset, stateKey, options.effective);
    toolset.params.set(stateKey, options.effective);
    toolset.configuredParams.set(stateKey, options.configured);
    toolset.stateFile.schedule(() => snapshotState(toolset));
    return shownOptions(configured.registered.tool, options);
  }

  #findOpen(name: string): ConfiguredTool["registered"] {
    if (this.#toolset() !== undefined) {
      throw new TriviumError(
        "failedPrecondition",
        "the names of tools are fixed by FinalizeToolConfigRequest",
      );
    }
    return findRegistered(this.#ports, name);
  }
}

function configuredParams(toolset: FinalizedToolset, { registered }: ConfiguredTool): JsonObject {
  const stateKey = registered.tool.params?.stateKey;
  return (stateKey === undefined ? undefined : toolset.configuredParams.get(stateKey)) ?? {};
}

function toggle(disabled: Set<string>, key: string, isEnabled: boolean): ControlOutcome {
  const wasEnabled = !disabled.has(key);
  if (isEnabled) disabled.delete(key);
  else disabled.add(key);
  const state = isEnabled ? "enabled" : "disabled";
  return {
    success: true,
    message: wasEnabled === isEnabled ? `${key} was ${state} already` : `${key} is ${state}`,
  };
}

function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new FinalizeConfigError(violations);
}
