import type { CallGate } from "./execute/call-gate.ts";
import type { IdempotentCalls } from "./execute/idempotent-calls.ts";
import type { ConfiguredTool } from "./finalize/configured-tool.ts";
import type { TruncationConfig } from "./finalize/tool-config.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { SessionScope } from "./session-resource.ts";
import type { SessionResources } from "./state/session-resources.ts";
import { toStateObject } from "./state/state-document.ts";
import type { StateFile } from "./state/state-file.ts";
import type { SubagentControl } from "./subagents/subagents.ts";

/** The locked set of tools of a session with everything that lives as long. Made by finalize. */
export interface FinalizedToolset {
  readonly scope: SessionScope;
  /** In the order of the configuration. */
  readonly tools: readonly ConfiguredTool[];
  readonly byName: ReadonlyMap<string, ConfiguredTool>;
  readonly resources: SessionResources;
  readonly stateFile: StateFile;
  readonly gate: CallGate;
  readonly repeatedCalls: IdempotentCalls;
  readonly subagents: SubagentControl;
  /** Effective params by state key. Values of keys that no configured tool has come from saved state. */
  readonly params: Map<string, JsonValue>;
  /** What requests set, by state key: all other params are defaults. */
  readonly configuredParams: Map<string, JsonObject>;
  readonly toolVersion: string;
  /** Client names of tools that are switched off. */
  readonly disabled: Set<string>;
  truncation: TruncationConfig | undefined;
  remindersEnabled: boolean;
}

/** The params of a configured tool as they are now. */
export function currentParams(toolset: FinalizedToolset, { registered, params }: ConfiguredTool): JsonObject {
  const stateKey = registered.tool.params?.stateKey;
  const current = stateKey === undefined ? undefined : toolset.params.get(stateKey);
  // The map holds what this tool's schema accepted; other values only under keys without a tool.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return current === undefined ? params : (current as JsonObject);
}

/** `{ params, state }` as it is now, without secrets. */
export function snapshotState(toolset: FinalizedToolset): JsonObject {
  const params = new Map(toolset.params);
  for (const tool of toolset.tools) {
    const definition = tool.registered.tool.params;
    const shown = definition?.withoutSecrets?.(currentParams(toolset, tool));
    if (definition !== undefined && isJsonObject(shown)) params.set(definition.stateKey, shown);
  }
  return toStateObject({ params: Object.fromEntries(params), state: toolset.resources.save() });
}
