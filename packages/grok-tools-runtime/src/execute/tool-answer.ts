import type { JsonObject } from "../json.ts";
import type { ToolError } from "../tool-error.ts";

/** The answer to a call: a success or a failure the model can read, with the facts of the run. */
export interface ToolAnswer {
  readonly callId: string;
  readonly result: ToolSuccess | ToolFailure;
  readonly metadata: CallMetadata;
}

/** A result. */
export interface ToolSuccess {
  readonly ok: true;
  /** The union value, after the caller's wishes about fields and byte buffers. */
  readonly output: JsonObject;
  /** For the model, reminders included. */
  readonly promptText: string;
}

/** A failure. */
export interface ToolFailure {
  readonly ok: false;
  readonly error: ToolError;
}

/** Contract: ExecutionMetadata */
export interface CallMetadata {
  /** From dispatch to the result, rounded down. */
  readonly durationMs: number;
  readonly estimatedTokens: number;
  readonly isTruncated: boolean;
  readonly toolVersion: string;
  /** Empty for tools without behaviour versions and for calls that reached no tool. */
  readonly contractVersion: string;
}
