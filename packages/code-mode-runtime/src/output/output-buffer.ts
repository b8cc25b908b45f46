import type { CellOutput } from "../engine/cell-engine.ts";

/** What a cell has emitted since its last delivered observation. */
export interface OutputBuffer {
  add(item: CellOutput): void;
  /** Hands over everything and starts anew. `errorText` of a failed program may become the last item. */
  take(errorText: string | undefined): TakenOutput;
  /** The items as one observer gets them, within its budget of tokens. */
  fit(items: readonly CellOutput[], maxOutputTokens: number | undefined): readonly CellOutput[];
}

/** Output on its way to one or two observers. */
export interface TakenOutput {
  readonly items: readonly CellOutput[];
  /** More was emitted than any message can hold, and the rest was not stored. */
  readonly isOverfull: boolean;
}

/** How a session wants output. */
export type OutputMode = "unbounded" | "bounded";
