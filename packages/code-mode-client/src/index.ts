// For those who run programs.

export { CellBusyError } from "./cell-busy-error.ts";
export { CodeModeClient } from "./client/code-mode-client.ts";
export type { CodeModeDelegate } from "./client/delegate.ts";
export type { LastingSession, LastingSessionOptions, StartedCell } from "./client/lasting-session.ts";
export { StaleGenerationError } from "./client/stale-generation-error.ts";
export { CodeModeSession } from "./code-mode-session.ts";
// For those who build an agent.
export { type ExecSource, parseExecSource } from "./exec/parse-exec-source.ts";
export { type RenderedTools, type RenderToolsOptions, renderTools } from "./exec/render-tools.ts";
export type { CellAnswer, CellItem, CellOutcome } from "./outcome.ts";
export {
  type PresentedOutcome,
  type PresentOutcomeOptions,
  presentOutcome,
} from "./presentation/present-outcome.ts";
export { renderJsonSchemaToTypescript } from "./schema/render-json-schema.ts";
export { SessionClosedError } from "./session-closed-error.ts";
export type {
  CellNotification,
  ExecuteOptions,
  OpenSessionOptions,
  TerminateOptions,
  WaitOptions,
} from "./session-options.ts";
export type { ToolDefinition } from "./tools/tool-definition.ts";
export type {
  DelegatedToolCall,
  ServedTool,
  ToolCallContext,
  ToolDelegate,
  ToolHandler,
} from "./tools/tool-server.ts";
