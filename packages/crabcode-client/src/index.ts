export { AgentCalls, type InputOptions, type SpawnOptions, type WaitOptions } from "./agent-calls.ts";
export type { AgentSnapshot } from "./agent-snapshot.ts";
export type { CallSettings, SessionOptions } from "./call-settings.ts";
export {
  type Checkpoint,
  CheckpointCalls,
  type CheckpointList,
  type CreateCheckpointOptions,
  type ListCheckpointsOptions,
  type RevertOptions,
  type RevertResult,
} from "./checkpoint-calls.ts";
export {
  type CrabcodeClientEvent,
  cursorOf,
  type NumberedCrabcodeEvent,
  type UnknownCrabcodeEvent,
} from "./client-event.ts";
export {
  CrabcodeClient,
  type CrabcodeClientOptions,
  type ModelList,
  type SendOptions,
  type SubscribeOptions,
} from "./crabcode-client.ts";
export { crabcodeErrorReason } from "./error-reason.ts";
export {
  type ListQuestionsOptions,
  QuestionCalls,
  type QuestionList,
  type WaitingChoice,
  type WaitingPermission,
  type WaitingQuestion,
} from "./question-calls.ts";
export type {
  PermissionDecision,
  QuestionAddress,
  QuestionContext,
  QuestionHandlers,
} from "./question-responder.ts";
export {
  type CloseSessionOptions,
  type CompactedSession,
  type CreateSessionOptions,
  type ListMessagesOptions,
  type ListSessionsOptions,
  type MessageList,
  type PageSettings,
  type ResumedSession,
  SessionCalls,
  type SessionList,
  type SessionToolInfo,
} from "./session-calls.ts";
export type {
  SessionMessage,
  SessionMessageBlock,
  SessionSnapshot,
  SessionStateName,
} from "./session-snapshot.ts";
export type { Turn } from "./turn.ts";
export type { TurnResult } from "./turn-summary.ts";
