export { type CallbackDialerOptions, createCallbackDialer } from "./callbacks/callback-dialer.ts";
export { grokToolsService } from "./grok-tools-service.ts";
export { questionService } from "./question-service.ts";
export type { GrokToolsServiceDeps } from "./request-metadata.ts";
