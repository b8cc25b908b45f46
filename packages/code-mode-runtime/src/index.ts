export type { CellAnswer, CellOutcome, CellResult } from "./cell/outcome.ts";
export {
  type CodeModeRuntime,
  type CodeModeRuntimeDeps,
  type CodeModeStats,
  createCodeModeRuntime,
} from "./code-mode-runtime.ts";
export type { CellEngine, CellOutput } from "./engine/cell-engine.ts";
export { type CellEngineOptions, createCellEngine } from "./engine/create-cell-engine.ts";
export { LOST_TEXT } from "./engine/loss-texts.ts";
export { type CodeModeLimits, defaultCodeModeLimits } from "./limits.ts";
export type { OutputMode } from "./output/output-buffer.ts";
export { RecentIds } from "./recent-ids.ts";
export type { ServerToolCall, ServerTools } from "./server-tools/server-tools.ts";
export type { CodeModeSession } from "./session.ts";
export type {
  ExecuteOptions,
  Execution,
  ObservationTarget,
  SessionEvent,
  SessionOptions,
  ToolDefinition,
  WaitOptions,
} from "./session-types.ts";
export type { SubscriptionOptions } from "./tool-calls/subscription.ts";
export type { SubscriptionEvent, ToolCall, ToolCallResult } from "./tool-calls/tool-call.ts";
export type { ToolReference } from "./tool-calls/tool-name.ts";
