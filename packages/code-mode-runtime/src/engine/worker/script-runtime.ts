import type { CellEnd } from "../cell-engine.ts";

/**
 * Port between the worker process, which speaks frames, and the library that runs JavaScript in it. Another library
 * can take the place of the present one by implementing this.
 */
export interface ScriptRuntime {
  /** Starts a program. Nothing is told before this returns. */
  run(program: ScriptProgram, events: ScriptEvents): RunningScript;
  /** The session has no further cells: whatever is kept for the next one is let go. */
  releaseSession(sessionKey: string): void;
  /** The process holds too much memory: ends the program that has been computing for longest, if one is. */
  relieve(): void;
}

/** One program. */
export interface ScriptProgram {
  readonly sessionKey: string;
  readonly source: string;
  /** JavaScript names and descriptions, in the order of the request. */
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** Stored values at admission: key to JSON text. */
  readonly stored: ReadonlyMap<string, string>;
  /** Bytes. */
  readonly heapLimitBytes: number;
}

/** What a program does, in order. Nothing follows `ended`. */
export interface ScriptEvents {
  ready(): void;
  action(action: ScriptAction): void;
  ended(end: CellEnd): void;
  /** Settles when more output can be taken; undefined: it can now. A program that floods is held until then. */
  room(): Promise<void> | undefined;
}

/** One action of a program. */
export type ScriptAction =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string; readonly detail: string }
  | { readonly type: "audio"; readonly url: string }
  | { readonly type: "yield" }
  | { readonly type: "store"; readonly key: string; readonly json: string }
  | { readonly type: "notify"; readonly text: string }
  | {
      readonly type: "tool";
      readonly callNumber: number;
      readonly toolIndex: number;
      readonly inputJson: string | undefined;
    };

/** A started program. Every method is harmless after the end. */
export interface RunningScript {
  resolveTool(callNumber: number, json: string): void;
  rejectTool(callNumber: number, message: string): void;
  /** Ends it by force; `ended` is called before this returns. */
  terminate(): void;
}
