// For those who run tools.

export { builtInTools } from "./catalogue/built-in-tools.ts";
export type { AuthorisationRequest, CallOptions } from "./execute/call-options.ts";
export type { ToolAnswer } from "./execute/tool-answer.ts";
export { recoverInterruptedWrites } from "./files/edit-engine/recover-writes.ts";
export type { ToolConfig } from "./finalize/tool-config.ts";
export { FinalizeConfigError, type Violation } from "./finalize/violation.ts";
export {
  createGrokToolsRuntime,
  type GrokToolsRuntime,
  type GrokToolsRuntimeOptions,
  type OpenSessionOptions,
} from "./grok-tools-runtime.ts";
export type { CallbackDialer } from "./notifications/callback-dialer.ts";
export { chunkText } from "./output/chunk.ts";
export { jsonPieces, textPieces } from "./output/text-pieces.ts";
export type { CommandRunner } from "./process/command-runner.ts";
export { createCommandRunner, type ProcessRunner } from "./process/create-command-runner.ts";
export type { ProgramRunner } from "./process/program-runner.ts";
export type { ChoiceAsker } from "./questions/choice-asker.ts";
export { ripgrepVersion } from "./search/ripgrep-version.ts";
export type {
  SubagentOutcome,
  SubagentProgress,
  SubagentRun,
  SubagentRunner,
} from "./subagents/subagent-runner.ts";
export type { SubagentSession } from "./subagents/subagent-session.ts";
// For those who write tools.
export { defineTool, type Tool } from "./tool.ts";
export type { ToolCard } from "./tool-card.ts";
export { ToolError } from "./tool-error.ts";
export { createToolRegistry, type ToolRegistry } from "./tool-registry.ts";
export { type FinalizeReport, ToolSession } from "./tool-session.ts";
export type { ToolSettings } from "./tool-settings.ts";
export type { WorkflowEngine } from "./workflow/workflow-engine.ts";
