export {
  type CrabcodeClientEvent,
  cursorOf,
  type NumberedCrabcodeEvent,
  type UnknownCrabcodeEvent,
} from "./client-event.ts";
export {
  type CallSettings,
  CrabcodeClient,
  type CrabcodeClientOptions,
  type ModelList,
  type SendOptions,
  type SessionOptions,
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
