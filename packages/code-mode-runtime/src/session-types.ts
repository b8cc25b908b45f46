import type { CellOutcome } from "./cell/outcome.ts";
import type { CellTool } from "./engine/cell-engine.ts";
import type { OutputMode } from "./output/output-buffer.ts";
import type { ServerTools } from "./server-tools/server-tools.ts";

/** How a session is to be run. */
export interface SessionOptions {
  /** Upper limit of every observation's wait; 0 is a limit too. Absent: none. */
  readonly maxYieldTimeMs?: number | undefined;
  /** Heap of each cell. Absent: the engine's default. */
  readonly maxHeapSizeBytes?: number | undefined;
  /** `unbounded` delivers everything; `bounded` keeps and cuts output on the host. */
  readonly outputMode: OutputMode;
  /** Unanswered tool calls at a time. Absent: the default of the limits. */
  readonly maxPendingCalls?: number | undefined;
  /**
   * Set: the end of a program is held back until its client has answered each of its notifications, at most so long.
   * Absent: nothing waits for answers.
   */
  readonly notificationAnswerMs?: number | undefined;
  /** Idle time after which the lease carries a heartbeat; 0 sends none. */
  readonly heartbeatIntervalMs: number;
  /** Tools of the server that programs may call. The session owns them. Absent: none. */
  readonly serverTools?: ServerTools | undefined;
}

/** One tool that a program may call. */
export interface ToolDefinition extends CellTool {
  readonly inputSchemaJson: string | undefined;
  readonly outputSchemaJson: string | undefined;
}

/** What the lease of a session carries. */
export type SessionEvent =
  /** The call was given out and is void; a result that still comes is ignored. */
  | { readonly type: "tool-call-cancelled"; readonly invocationId: string }
  | {
      readonly type: "notified";
      readonly notificationId: string;
      readonly executionId: string;
      readonly cellId: string;
      /** The label of the Execute. */
      readonly callId: string;
      readonly text: string;
    }
  /** Nobody waits for the answer any more. Only where answers are waited for. */
  | { readonly type: "notification-cancelled"; readonly notificationId: string }
  /** The last event of a cell. */
  | {
      readonly type: "cell-closed";
      readonly executionId: string;
      readonly cellId: string;
      readonly finalToolCallSequence: number;
    }
  | { readonly type: "heartbeat" };

/** One program to run. */
export interface ExecuteOptions {
  /** Chosen by the client, used once in a session. */
  readonly executionId: string;
  /** Free label that comes back with notifications. */
  readonly callId: string;
  readonly source: string;
  readonly tools: readonly ToolDefinition[];
  /** Number of the list of tools; a list that is stored under it need not be sent again. */
  readonly catalogRevision?: bigint | undefined;
  /** Wait for the first outcome. Absent: 10 s. */
  readonly yieldTimeMs?: number | undefined;
  /** Budget of the answer in bounded sessions. Absent: 10 000. */
  readonly maxOutputTokens?: number | undefined;
}

/** An admitted program. */
export interface Execution {
  readonly executionId: string;
  readonly cellId: string;
  /**
   * The first outcome; undefined when the session ended before it.
   *
   * Rejects with `outOfRange` when the output fits in no message; the output is lost then.
   */
  readonly outcome: Promise<CellOutcome | undefined>;
  /** The client will not see the first outcome: the cell is terminated, unless it is closed already. */
  abandon(): void;
}

/** One more look at a cell. */
export interface WaitOptions {
  readonly cellId: string;
  /** Chosen by the client, used once in a session. */
  readonly waitId: string;
  readonly yieldTimeMs: number;
  readonly maxOutputTokens?: number | undefined;
  /** The client went away: the observer is retired and nothing is lost. */
  readonly signal?: AbortSignal | undefined;
}

/** Which pending observation to end early. */
export type ObservationTarget =
  | { readonly type: "execution"; readonly executionId: string }
  | { readonly type: "wait"; readonly waitId: string };
