export { type CrabcodeServiceDeps, crabcodeService } from "./crabcode-service.ts";
