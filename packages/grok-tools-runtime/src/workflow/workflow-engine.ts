import type { JsonValue } from "../json.ts";

/** Port to whatever runs the JavaScript of workflows. It knows nothing of children, budgets and runs. */
export interface WorkflowEngine {
  /**
   * Runs one program to its end. What it has called and not awaited may still be pending then.
   *
   * Rejects with the reason of the program's signal when that aborts; the program has ended then.
   *
   * @throws {@link TriviumError} when the program cannot be run at all.
   */
  run(program: WorkflowProgram): Promise<WorkflowEnd>;
}

/** A program and what it may use. */
export interface WorkflowProgram {
  /**
   * Body of a module: `await` at the top is fine. It sees `agent(prompt, options)`, `parallel(items)`, `args`, and
   * `text(value)`, which adds to its output.
   */
  readonly source: string;
  /** The value of `args`. */
  readonly args: JsonValue;
  readonly signal: AbortSignal;
  /** `agent(prompt, options)` of the program; a rejection is thrown there with the error's message. */
  agent(input: { readonly prompt: JsonValue; readonly options: JsonValue }): Promise<JsonValue>;
  /** `parallel(items)` of the program. */
  parallel(input: { readonly items: JsonValue }): Promise<JsonValue>;
}

/** How a program ended. */
export interface WorkflowEnd {
  /** What it has put out as text, in order. */
  readonly output: string;
  /** Undefined: it ran to its end. */
  readonly errorText: string | undefined;
}
