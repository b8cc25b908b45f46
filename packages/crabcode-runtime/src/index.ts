export type {
  AcceptedAgentInput,
  AgentInput,
  AgentListing,
  AgentReference,
  AgentSnapshot,
  CancelledAgent,
  SpawnAgentInput,
  SpawnedAgent,
  WaitAgentInput,
} from "./agents/agent-types.ts";
export type {
  Checkpoint,
  CheckpointCalls,
  CheckpointPage,
  CreateCheckpointInput,
  CreatedCheckpoint,
  ListCheckpointsInput,
  RevertedCheckpoint,
  RevertInput,
  RevertScope,
} from "./checkpoints/checkpoint.ts";
export type { MessageBlock } from "./conversation/message.ts";
export { CrabcodeError, type CrabcodeErrorReason } from "./crabcode-error.ts";
export type {
  ChoiceAnswer,
  CrabcodeRuntime,
  CrabcodeRuntimeOptions,
  InterruptResult,
  MessagePlace,
  MessageStream,
  ModelListing,
  PermissionAnswer,
  SendMessageInput,
  StreamEvent,
  SubscribeInput,
  Subscription,
} from "./crabcode-runtime.ts";
export { createCrabcodeRuntime } from "./create-crabcode-runtime.ts";
export { createHostedAgents, type HostedAgentsOptions } from "./hosted-agents/create-hosted-agents.ts";
export type {
  HostedAgentEnd,
  HostedAgentRequest,
  HostedAgents,
  HostedAgentUsage,
  HostedTool,
} from "./hosted-agents/hosted-agents.ts";
export { type ImportOptions, importSessions } from "./import/import-sessions.ts";
export type { ImportedSession } from "./import/session-importer.ts";
export { createModelCatalogue, type ModelEnvironment, type ProfileCheck } from "./models/model-catalogue.ts";
export type { CellEvents, CellLook, CellObservation, CodeCellsPort } from "./ports/code-cells-port.ts";
export type { OpenMcp } from "./ports/mcp-port.ts";
export type { ModelCatalogue, ModelPort } from "./ports/model-port.ts";
export type { ProgramRequest, ProgramResult, RunProgram } from "./ports/program-port.ts";
export type { SkillDocument, SkillPort, SkillRoot } from "./ports/skill-port.ts";
export type { OpenToolbox, ToolboxPort } from "./ports/toolbox-port.ts";
export type { WebSearchPort } from "./ports/web-search-port.ts";
export type {
  CrabcodeQuestions,
  CrabcodeSessions,
  CreateSessionInput,
  HistoryMessage,
  ListMessagesInput,
  ListQuestionsInput,
  ListSessionsInput,
  PendingQuestion,
  SessionInfo,
  SessionState,
} from "./session-calls/session-types.ts";
export type { SessionGate } from "./sessions/session-gate.ts";
export type { SessionReference, SessionSelector } from "./sessions/session-selector.ts";
export { settingsFindings } from "./settings/settings-findings.ts";
