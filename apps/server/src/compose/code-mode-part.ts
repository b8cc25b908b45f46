import {
  type CellEngine,
  type CodeModeRuntime,
  createCellEngine,
  createCodeModeRuntime,
} from "@trivium/code-mode-runtime";
import { randomIds, systemClock } from "@trivium/core";
import type { ConfigValues } from "../config/config-keys.ts";
import type { Part } from "./part.ts";

/** The cells of a server. Owned by the stack they were made on. */
export interface CodeModePart {
  readonly engine: CellEngine;
  readonly runtime: CodeModeRuntime;
}

/** Starts the worker processes and the sessions over them. */
export function startCodeMode(
  values: ConfigValues,
  { stack, logger }: Pick<Part, "stack" | "logger">,
): CodeModePart {
  const engine = stack.use(
    createCellEngine({
      isolation: values["codeMode.isolation"],
      maxLiveCells: values["codeMode.maxCells"],
      logger: logger.child({ part: "cells" }),
    }),
  );
  const runtime = stack.use(
    createCodeModeRuntime({
      engine,
      clock: systemClock,
      ids: randomIds,
      logger: logger.child({ part: "code-mode" }),
      limits: { maxCells: values["codeMode.maxCells"] },
      keepOversizedOutput: values["codeMode.keepOversizedOutput"],
    }),
  );
  return { engine, runtime };
}
