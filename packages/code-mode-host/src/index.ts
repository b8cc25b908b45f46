export { codeModeMethodLimits, codeModeService } from "./code-mode-service.ts";
export type { ServerToolsPort, ServerToolsRequest } from "./server-tools.ts";
export type { CodeModeServiceDeps } from "./service-deps.ts";
export { createV1Host, type V1Host, type V1HostDeps } from "./v1/v1-host.ts";
export type { WebSocketAddress, WebSocketHost } from "./v1/web-socket/listen-web-sockets.ts";
export { warmUpCodeMode } from "./warm-up.ts";
