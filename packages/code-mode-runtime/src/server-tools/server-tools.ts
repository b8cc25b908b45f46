import type { ToolDefinition } from "../session-types.ts";
import type { ToolCallResult } from "../tool-calls/tool-call.ts";

/**
 * Port to tools that this process has itself, opened for one session. The session disposes them once its cells and
 * their calls are gone.
 */
export interface ServerTools extends AsyncDisposable {
  /** The tools of this namespace are theirs, where no subscription takes a call. */
  readonly namespace: string;
  /** What every program may call besides its own tools, as it is now. */
  definitions(): readonly ToolDefinition[];
  /**
   * Answers one call. What it throws rejects the program's promise with the message.
   *
   * It settles soon after the call's signal aborts, and then nothing of the call is left running.
   */
  call(call: ServerToolCall): Promise<ToolCallResult>;
}

/** A call that is answered in this process. */
export interface ServerToolCall {
  /** `<session id>/<cell id>/<tool call id>`. */
  readonly callId: string;
  /** Without the namespace. */
  readonly name: string;
  /** Absent when the program passed nothing. */
  readonly inputJson: string | undefined;
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal;
}
