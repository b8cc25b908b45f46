import type { CellNotification } from "../session-options.ts";
import type { DelegatedToolCall, ToolCallContext } from "../tools/tool-server.ts";

/** Acts for the programs of a {@link LastingSession}. Cell ids are those that the session gives. */
export interface CodeModeDelegate {
  /**
   * Answers a tool call with a value that has a JSON form (undefined is sent as null). What it throws rejects the
   * program's promise with the message. The signal aborts when nobody waits for the answer any more.
   */
  invokeTool(call: DelegatedToolCall, context: ToolCallContext): unknown;
  /** A program said something. A failure goes to {@link CodeModeDelegate.failed}. */
  notify?(notification: CellNotification, signal: AbortSignal): void | Promise<void>;
  /** A cell is gone. Called once for each, also for those of a session that was lost. */
  cellClosed?(cellId: string): void;
  /** Another of these callbacks, not `invokeTool`, threw this. */
  failed?(error: unknown): void;
}
