import type { ExecutionMetadata } from "@trivium/proto/grok-tools";
import type { JsonValue } from "@trivium/rpc";
import type { ToolCallError } from "./tool-error.ts";

/** Options of one call; all may be left out. */
export interface ToolCallOptions {
  /** Cancels the call; the tool and everything it started end. */
  readonly signal?: AbortSignal;
  /** Time for the whole call on the server, in milliseconds. 1 to 36 000 000. */
  readonly timeoutMs?: number;
  /** At most 256 bytes. Default: the server makes one up. */
  readonly callId?: string;
  /** Run in the background where the tool can and the input does not say. */
  readonly background?: boolean;
  /** Shorter texts where the tool has them; byte buffers are left out. */
  readonly concise?: boolean;
  /** Folder for this call only; relative to the session's. */
  readonly workingDirectory?: string;
  readonly includeFields?: readonly string[];
  readonly excludeFields?: readonly string[];
  /** A repeated call with the same key gets the first one's answer. 1 to 128 visible ASCII characters. */
  readonly idempotencyKey?: string;
  /** Turn of your model that makes the call, or id of the subagent that does. 1 or more visible ASCII characters. */
  readonly promptId?: string;
  /** `output` answers logical failures (file missing, no match) as results. Default `error`. */
  readonly logicalErrors?: "error" | "output";
}

/** What a call came to. */
export type ToolCallResult = ToolCallSuccess | ToolCallFailure;

/** The tool did what it was asked. */
export interface ToolCallSuccess {
  readonly ok: true;
  readonly callId: string;
  /** `output_json`, parsed: an object with `type`. Byte buffers are texts. */
  readonly output: JsonValue;
  /** For the model. */
  readonly promptText: string;
  readonly metadata: ToolCallMetadata;
}

/** The tool failed in a way a model can react to. */
export interface ToolCallFailure {
  readonly ok: false;
  readonly callId: string;
  readonly error: ToolCallError;
  readonly metadata: ToolCallMetadata;
}

/** Facts of a run. */
export interface ToolCallMetadata {
  readonly durationMs: number;
  readonly estimatedTokens: number;
  readonly isTruncated: boolean;
  readonly toolVersion: string;
  /** Empty for tools without behaviour versions. */
  readonly contractVersion: string;
}

/** Metadata with plain numbers; missing metadata reads as zeros. */
export function toCallMetadata(metadata: ExecutionMetadata | undefined): ToolCallMetadata {
  return {
    durationMs: Number(metadata?.durationMs ?? 0n),
    estimatedTokens: metadata?.estimatedTokens ?? 0,
    isTruncated: metadata?.truncated ?? false,
    toolVersion: metadata?.toolVersion ?? "",
    contractVersion: metadata?.contractVersion ?? "",
  };
}
