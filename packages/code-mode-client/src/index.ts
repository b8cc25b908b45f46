export { CodeModeSession } from "./code-mode-session.ts";
export type { CellAnswer, CellItem, CellOutcome } from "./outcome.ts";
export { SessionClosedError } from "./session-closed-error.ts";
export type {
  CellNotification,
  ExecuteOptions,
  OpenSessionOptions,
  TerminateOptions,
  WaitOptions,
} from "./session-options.ts";
export type { ToolDefinition } from "./tools/tool-definition.ts";
export type { ServedTool, ToolCallContext, ToolHandler } from "./tools/tool-server.ts";
