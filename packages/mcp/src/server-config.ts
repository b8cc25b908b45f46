/** How one server is reached. */
export type McpServerConfig = McpStdioServerConfig | McpHttpServerConfig;

/** A server that is started as a program and talks over its standard input and output. */
export interface McpStdioServerConfig extends McpServerLimits {
  /** Program: absolute, or a name that is looked up in the `PATH`. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables besides those every server gets. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A server that is reached over streamable HTTP. */
export interface McpHttpServerConfig extends McpServerLimits {
  /** `http:` or `https:`. */
  readonly url: string;
  /** `sse`: the older way with a stream of events. Absent: the newer one, and the older for servers that refuse it. */
  readonly transport?: "sse" | undefined;
  /** Sent with every request, for example `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Times a server may take. */
export interface McpServerLimits {
  /** From the start to the list of tools. Default 30 000. */
  readonly startupTimeoutMs?: number | undefined;
  /** For one call. Default 120 000. */
  readonly callTimeoutMs?: number | undefined;
  /** For calls of single tools, by their names on the server. */
  readonly toolTimeoutsMs?: Readonly<Record<string, number>> | undefined;
}

/** Whether a server is started as a program. */
export function isStdioServer(config: McpServerConfig): config is McpStdioServerConfig {
  return "command" in config;
}
