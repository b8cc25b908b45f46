export type { CallbackAddress, CallbackState } from "./callback-address.ts";
export {
  GrokToolsClient,
  type GrokToolsClientOptions,
  type OpenToolSessionOptions,
  openToolSession,
} from "./grok-tools-client.ts";
export { parseNotification, type ToolNotification } from "./notification.ts";
export { FinalizeConfigError, NotFinalizedError, StreamIntegrityError } from "./session-errors.ts";
export {
  type StoredToolConfigEntry,
  toolConfigEntryFromJson,
  toolConfigEntryToJson,
} from "./stored-tool-config.ts";
export type {
  ToolCallFailure,
  ToolCallMetadata,
  ToolCallOptions,
  ToolCallResult,
  ToolCallSuccess,
} from "./tool-call.ts";
export { ToolCallStream } from "./tool-call-stream.ts";
export { defaultClientName, type ToolConfig, type ToolSessionConfig } from "./tool-config.ts";
export { ToolCallError } from "./tool-error.ts";
export { type ToolMeta, toolMeta } from "./tool-meta.ts";
export { type ToolQuestion, ToolQuestions } from "./tool-questions.ts";
export { ToolSession } from "./tool-session.ts";
