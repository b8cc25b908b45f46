export { type CrabcodeServiceDeps, crabcodeMethodLimits, crabcodeService } from "./crabcode-service.ts";
