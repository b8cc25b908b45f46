export { type AgentServiceDeps, agentService } from "./agent-service.ts";
export { type CrabcodeServiceDeps, crabcodeMethodLimits, crabcodeService } from "./crabcode-service.ts";
