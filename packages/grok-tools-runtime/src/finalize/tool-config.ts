import type { JsonObject } from "../json.ts";
import type { RegisteredTool } from "../tool-registry.ts";

/** One tool of a configuration. Contract: ToolConfigEntry */
export interface ToolConfigEntry {
  readonly id: string;
  /** JSON text of an object. Absent: the tool's defaults. */
  readonly paramsJson?: string | undefined;
  readonly nameOverride?: string | undefined;
  /** Canonical parameter name → name the caller uses. */
  readonly paramsNameOverrides?: Readonly<Record<string, string>> | undefined;
  readonly behaviorVersion?: string | undefined;
  readonly descriptionOverride?: string | undefined;
}

/** Size limits of tool texts. Contract: TruncationConfig */
export interface TruncationConfig {
  /** 1 to 16 777 216. */
  readonly defaultMaxOutputBytes?: number | undefined;
  /** By fully qualified id, canonical name or client name. */
  readonly perToolMaxOutputBytes?: Readonly<Record<string, number>> | undefined;
  /** 1 to 1 000 000. Default 1000. */
  readonly maxLinesRead?: number | undefined;
}

/** What a session is finalized with. Contract: FinalizeToolServerConfigRequest */
export interface ToolConfig {
  readonly tools: readonly ToolConfigEntry[];
  readonly truncation?: TruncationConfig | undefined;
  readonly systemRemindersEnabled?: boolean | undefined;
  /** JSON text: `{ "params": {…}, "state": {…} }`. */
  readonly initialToolStateJson?: string | undefined;
  /** Default `current`. */
  readonly behaviorPreset?: string | undefined;
  readonly clientCallbackAddr?: string | undefined;
  /** Bearer secret of the callback service. Means nothing without an address. */
  readonly clientCallbackSecret?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** An entry that was found and decoded on its way through the checks. */
export interface ResolvedEntry {
  readonly index: number;
  readonly entry: ToolConfigEntry;
  readonly registered: RegisteredTool;
  readonly clientName: string;
  readonly behaviorVersion: string | undefined;
  /** Keys the request itself set. */
  readonly explicitParams: JsonObject;
  /** Defaults, initial state and explicit params together. */
  readonly effectiveParams: JsonObject;
}
