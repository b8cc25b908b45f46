import type { CellOutput } from "../engine/cell-engine.ts";

/** What one observation of a cell brought. */
export interface CellOutcome {
  readonly cellId: string;
  /** Output since the previous delivered observation, in the order of emission. */
  readonly items: readonly CellOutput[];
  readonly result: CellResult;
  /** Time this host spent on the observation. */
  readonly hostDurationMs: number;
  /**
   * How long a completed result lay there before this observation took it; 0 when the observer was already waiting.
   * Absent unless the cell completed.
   */
  readonly bufferedForMs?: number;
}

/** How things stood when the observation ended. */
export type CellResult =
  /** The cell goes on. */
  | { readonly type: "yielded" }
  | { readonly type: "terminated" }
  /** `errorText` is present, possibly empty, exactly when the program failed. */
  | { readonly type: "completed"; readonly errorText: string | undefined };

/** The answer about a cell: a live one, or one that does not exist (any more). */
export interface CellAnswer {
  readonly state: "live" | "missing";
  readonly outcome: CellOutcome;
}
