import type { ToolCategory } from "@trivium/proto/grok-tools";
import type { JsonObject } from "./json.ts";
import type { BehaviorVersion, OutputField } from "./tool.ts";
import type { ToolKind } from "./tool-kind.ts";

/** Everything a client may know about a tool. Contract: ToolInfo */
export interface ToolCard {
  /** Client name in a finalized session, canonical name before. */
  readonly name: string;
  readonly id: string;
  readonly namespace: string;
  readonly kind: ToolKind;
  readonly displayName: string;
  readonly description: string;
  /** First sentence, at most 120 characters. */
  readonly shortDescription: string;
  readonly category: ToolCategory;
  readonly isEnabled: boolean;
  /** Names and shapes as the caller must send them. */
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** The three undefined for a tool without params. */
  readonly paramsSchema: JsonObject | undefined;
  readonly defaultParams: JsonObject | undefined;
  readonly currentParams: JsonObject | undefined;
  readonly capabilities: ToolCardCapabilities;
  readonly outputFields: readonly OutputField[];
  /** Resolved behaviour version; empty for a tool without versions and before finalize. */
  readonly contractVersion: BehaviorVersion["version"];
}

/** Contract: ToolCapabilities */
export interface ToolCardCapabilities {
  readonly supportsBackground: boolean;
  readonly supportsStreaming: boolean;
  readonly hasSideEffects: boolean;
  readonly supportsCancellation: boolean;
  readonly supportsTimeout: boolean;
  readonly isReadOnly: boolean;
  /** `kind:<kind>`, `scope:read` or `scope:write`, `requires:<dependency>` while that is missing, the tool's own. */
  readonly custom: readonly string[];
}
