import { parseExecSource } from "@trivium/code-mode-client";
import { type CellEngine, type CodeModeRuntime, createCodeModeRuntime } from "@trivium/code-mode-runtime";
import { type Logger, randomIds, systemClock } from "@trivium/core";
import type { CodeCellsPort } from "@trivium/crabcode-runtime";
import { openCellSession } from "./open-cell-session.ts";

/** What the cells of conversations are made of. The engine is not disposed with them. */
export interface CodeCellsOptions {
  readonly engine: CellEngine;
  /** Cells of all conversations together. */
  readonly maxCells: number;
  readonly logger: Logger;
}

/**
 * Code cells for conversations, over the engine of code mode and with sessions of their own: clients of code mode cannot
 * reach them, and they outlive its shutdown, in which turns may still end.
 */
export function createCodeCells({
  engine,
  maxCells,
  logger,
}: CodeCellsOptions): CodeCellsPort & AsyncDisposable {
  const runtime: CodeModeRuntime = createCodeModeRuntime({
    engine,
    clock: systemClock,
    ids: randomIds,
    logger,
    limits: { maxCells },
  });
  return {
    readSource: parseExecSource,
    openSession: (events, { heapBytes }) => openCellSession(runtime, events, heapBytes),
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
}
