export { grokToolsService } from "./grok-tools-service.ts";
export type { GrokToolsServiceDeps } from "./request-metadata.ts";
