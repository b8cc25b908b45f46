export type { McpServerChange, McpServerStatus } from "./mcp-server.ts";
export { McpServers, type McpServersOptions } from "./mcp-servers.ts";
export type {
  McpCallOutcome,
  McpContent,
  McpFailure,
  McpResult,
  McpTool,
  McpToolHints,
} from "./mcp-tool.ts";
export type { McpHttpServerConfig, McpServerConfig, McpStdioServerConfig } from "./server-config.ts";
// For those who provide the programs of servers.
export type { ServerProcess, ServerProcessEnd, StartServerProcess } from "./server-process.ts";
