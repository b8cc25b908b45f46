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
export { createModelCatalogue, type ModelEnvironment, type ProfileCheck } from "./models/model-catalogue.ts";
export type { ModelCatalogue, ModelPort } from "./ports/model-port.ts";
export type { OpenToolbox, ToolboxPort } from "./ports/toolbox-port.ts";
export type { SessionReference, SessionSelector } from "./sessions/session-selector.ts";
