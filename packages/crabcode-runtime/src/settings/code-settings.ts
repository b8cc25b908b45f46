import { z } from "zod";

/** The `code` object of the settings, ready for use. */
export interface CodeSettings {
  readonly isEnabled: boolean;
  /** Cells of one loop. */
  readonly maxLiveCells: number;
  /** Calls of one cell. */
  readonly maxNestedCalls: number;
  /** Calls of one loop that run side by side. */
  readonly maxParallelCalls: number;
  readonly heapBytes: number;
  /** A cell is ended after that time. */
  readonly maxCellMs: number;
}

const MIB = 1024 * 1024;

/** A whole number that can only be lowered; a value that cannot be used counts as absent. */
const atMost = (most: number): z.ZodType<number> =>
  z
    .int()
    .min(1)
    .catch(most)
    .transform((value) => Math.min(value, most));

const codeFile = z.object({
  enabled: z.boolean().catch(true),
  max_live_cells: atMost(4),
  max_nested_calls: atMost(1000),
  max_parallel_calls: atMost(8),
  max_heap_mib: atMost(256),
  max_cell_seconds: atMost(3600),
});

/** Numbers beyond the defaults count as the defaults. */
export const codeSettings: z.ZodType<CodeSettings> = z
  .preprocess((value) => (typeof value === "object" && value !== null ? value : {}), codeFile)
  .transform((file) => ({
    isEnabled: file.enabled,
    maxLiveCells: file.max_live_cells,
    maxNestedCalls: file.max_nested_calls,
    maxParallelCalls: file.max_parallel_calls,
    heapBytes: file.max_heap_mib * MIB,
    maxCellMs: file.max_cell_seconds * 1000,
  }));
