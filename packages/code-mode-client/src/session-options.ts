import type { Clock } from "@trivium/core";
import type { ToolDefinition } from "./tools/tool-definition.ts";
import type { ToolDelegate } from "./tools/tool-server.ts";

/** A message that a program sent with `notify()`. */
export interface CellNotification {
  readonly cellId: string;
  readonly executionId: string;
  /** The `toolCallId` of the Execute. */
  readonly toolCallId: string;
  readonly text: string;
}

/** How a session is opened. Everything has a default. */
export interface OpenSessionOptions {
  /** Upper limit of every observation's wait. 0 is a limit too. Default: none. */
  readonly maxYieldTimeMs?: number;
  /** Heap of each cell. Default: the host's. */
  readonly maxHeapSizeBytes?: number;
  /** `bounded`, the default, keeps and cuts output on the host; `off` delivers everything. */
  readonly outputTruncation?: "bounded" | "off";
  /** Tool calls that may be unanswered at a time. Default: the host's. */
  readonly maxPendingCalls?: number;
  /**
   * How often an idle host says that it is alive, in whole seconds (rounded up). Once it has done so, three
   * intervals of silence end the session. 0 turns it off. Default 15 000.
   */
  readonly heartbeatIntervalMs?: number;
  /** Time for the host to answer, beyond the waits that a call asks for. Past it the session fails. Default 60 000. */
  readonly requestTimeoutMs?: number;
  /**
   * Called for each notification, in order of arrival, without waiting for the one before. A completed outcome is
   * released when those of its cell have finished. A failure goes to {@link onCallbackError}. `signal` aborts when the
   * session ends.
   */
  readonly onNotification?: (notification: CellNotification, signal: AbortSignal) => void | Promise<void>;
  /** Called once for each cell that is gone, also when the session ends. A failure goes to {@link onCallbackError}. */
  readonly onCellClosed?: (cellId: string) => void;
  /**
   * Called with what another of these callbacks threw or rejected with. The session goes on in any case; what this one
   * throws is ignored. Default: nothing is done.
   */
  readonly onCallbackError?: (error: unknown) => void;
  /**
   * Answers calls of tools that programs are given and that have no handler of their own. It is subscribed before the
   * session is handed out: to everything, or with {@link serverTools} to the tools of each Execute in turn.
   */
  readonly onToolCall?: ToolDelegate;
  /**
   * Tools of the server that programs may call without a round trip to this client, in the namespace `grok`:
   * all of them, those that change nothing, or none in spite of the server's configuration. Default: the server's.
   */
  readonly serverTools?: "grok" | "grok;read-only" | "none";
  /** Grok tools session whose tools, state and folder those are. Default: the server chooses. */
  readonly toolSession?: string;
  /**
   * CrabCode session of the same server that is asked where rules for those tools say so, and whose own rules, mode and
   * grants hold for their calls too. Default: nobody is asked, and what rules would ask about is denied.
   */
  readonly permissionSession?: string;
  /** Ends the opening; it has no effect on the open session. */
  readonly signal?: AbortSignal;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** How a program is run. */
export interface ExecuteOptions {
  /** Ends the cell when it aborts before the first outcome. */
  readonly signal?: AbortSignal;
  /** Called when the host has admitted the program. */
  readonly onStarted?: (cellId: string) => void;
  /** Tools that the program may call. Default: all that the session serves. */
  readonly tools?: readonly ToolDefinition[];
  /** Wait for the first outcome. 0 yields at once. Default: the host's, 10 000. */
  readonly yieldTimeMs?: number;
  /** Budget of the answer in a bounded session. Default: the host's, 10 000. */
  readonly maxOutputTokens?: number;
  /** Free label that comes back with notifications. Default: the execution id. */
  readonly toolCallId?: string;
  /** Used once in a session, 1 to 256 bytes. Default: a random one. */
  readonly executionId?: string;
}

/** One more look at a cell. */
export interface WaitOptions {
  /** Gives up the look, not the cell: nothing is lost. */
  readonly signal?: AbortSignal;
  /** Default 10 000. */
  readonly yieldTimeMs?: number;
  /** Budget of the answer in a bounded session. Default: the host's, 10 000. */
  readonly maxOutputTokens?: number;
}

/** How a cell is ended. */
export interface TerminateOptions {
  /** Gives up the answer; the cell ends all the same. */
  readonly signal?: AbortSignal;
  /** Budget of the answer in a bounded session. Default: the host's, 10 000. */
  readonly maxOutputTokens?: number;
}
