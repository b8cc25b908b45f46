export { AgentCalls, type InputOptions, type SpawnOptions, type WaitOptions } from "./agent-calls.ts";
export type { AgentSnapshot } from "./agent-snapshot.ts";
export type { CallSettings, SessionOptions } from "./call-settings.ts";
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
export type {
  PermissionDecision,
  QuestionAddress,
  QuestionContext,
  QuestionHandlers,
} from "./question-responder.ts";
export type { Turn } from "./turn.ts";
export type { TurnResult } from "./turn-summary.ts";
