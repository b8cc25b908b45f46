export { codeModeMethodLimits, codeModeService } from "./code-mode-service.ts";
export type { CodeModeServiceDeps } from "./service-deps.ts";
