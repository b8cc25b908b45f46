export { agentService } from "./agent-service.ts";
export { checkpointService } from "./checkpoint-service.ts";
export { type CrabcodeServiceDeps, crabcodeMethodLimits, crabcodeService } from "./crabcode-service.ts";
export { questionService } from "./question-service.ts";
export { sessionService } from "./session-service.ts";
export type { ExtensionServiceDeps } from "./status.ts";
