import type { SessionEnvironment, SessionParts } from "../sessions/session-deps.ts";
import type { LoopQuestions } from "../turn/loop-deps.ts";
import { CodeCells } from "./code-cells.ts";

/** The code cells of one loop; undefined where there are none. Owned by whoever runs the loop. */
export function openCells(
  { codeCells: port, clock, logger }: Pick<SessionEnvironment, "codeCells" | "clock" | "logger">,
  { settings }: Pick<SessionParts, "settings">,
  questions: LoopQuestions,
): CodeCells | undefined {
  if (port === undefined || !settings.code.isEnabled) return undefined;
  return new CodeCells({ port, settings: settings.code, questions, clock, logger });
}
