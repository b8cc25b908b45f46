/**
 * Port between sessions, which know the rules of the contract, and whatever runs JavaScript.
 *
 * An engine knows nothing of observers, subscriptions, budgets or execution ids. It runs one program per cell and
 * reports what the program does, in the order in which it does it.
 */
export interface CellEngine extends AsyncDisposable {
  /**
   * Starts a cell. Returns at once; what happens is told through `listener`.
   *
   * @throws {@link TriviumError} `resourceExhausted` past the limit of live cells, `unavailable` when closing.
   */
  start(cell: CellProgram, listener: CellListener): RunningCell;
  /** A session is gone: whatever the engine kept for its next cell is let go. Its cells are terminated first. */
  releaseSession(sessionKey: string): void;
  /** What is alive, for metrics and the doctor. */
  stats(): CellEngineStats;
}

/** One program and what it may see. */
export interface CellProgram {
  /** Cells of one key may share an isolate one after the other, each in a fresh realm; different keys never do. */
  readonly sessionKey: string;
  readonly source: string;
  /** In the order of the request. The engine derives the JavaScript names (code-mode rules for `tools` and `ALL_TOOLS`). */
  readonly tools: readonly CellTool[];
  /** Stored values at admission: key to JSON text. */
  readonly stored: ReadonlyMap<string, string>;
  /** Heap limit of the isolate. Absent: the engine's default. */
  readonly heapLimitBytes?: number;
}

/** One entry of `tools`. */
export interface CellTool {
  readonly name: string;
  readonly toolName: string;
  readonly namespace: string | undefined;
  readonly description: string;
  readonly kind: "function" | "freeform";
}

/**
 * What a cell does. Methods are called one after the other, in the order of the program's actions, and never after
 * {@link CellListener.ended}. They return quickly and do not throw.
 */
export interface CellListener {
  /** The realm stands and the program is about to run; observation timers start here. Not called if it never gets there. */
  ready(): void;
  /** One content item. */
  output(item: CellOutput): void;
  /** `yield_control()` ran. */
  yieldRequested(): void;
  /** `store(key, value)` ran; JSON text. Several writes of one key come in order. */
  stored(key: string, json: string): void;
  /** `notify(text)` ran. */
  notified(text: string): void;
  /** A tool was called. `toolCallId` is `tool-1`, `tool-2`, … in call order; `inputJson` is absent for no argument. */
  toolCalled(call: { toolCallId: string; tool: CellTool; inputJson: string | undefined }): void;
  /** The last call. */
  ended(end: CellEnd): void;
}

/** A content item, already checked and normalised by the helper that made it. */
export type CellOutput =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly url: string;
      readonly detail: "auto" | "low" | "high" | "original" | undefined;
    }
  | { readonly type: "audio"; readonly url: string };

/** Why a cell ended. Only `completed` commits stored values. */
export type CellEnd =
  /** It ran to its end or called `exit()` (no error), or failed (with the text of the error). */
  | { readonly type: "completed"; readonly errorText: string | undefined }
  /** {@link RunningCell.terminate} was called first. */
  | { readonly type: "terminated" }
  /** Heap exhausted, worker lost: the text says which. Nothing is committed. */
  | { readonly type: "lost"; readonly errorText: string };

/** A started cell. Every method is harmless after the end. */
export interface RunningCell {
  /** Settles the promise of a tool call with JSON text (already known to be valid JSON); bytes are UTF-8. */
  resolveTool(toolCallId: string, outputJson: string | Uint8Array): void;
  /** Rejects the promise of a tool call with a JavaScript string. */
  rejectTool(toolCallId: string, message: string): void;
  /**
   * Ends the cell by force. `ended` follows promptly (milliseconds), whatever the program does: it does not wait
   * for a thread that is stuck in a built-in.
   */
  terminate(): void;
}

/** Counts for metrics. */
export interface CellEngineStats {
  readonly workers: number;
  readonly liveCells: number;
  /** Workers replaced after a crash, a memory kill or a stuck thread, since the start. */
  readonly workerRestarts: number;
}
