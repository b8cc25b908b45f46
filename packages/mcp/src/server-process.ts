import type { McpStdioServerConfig } from "./server-config.ts";

/**
 * Port: starts the program of a server. Whoever provides it sees to it that the program ends with everything it has
 * started when `stop` is called and when this process dies.
 *
 * Rejects when the program cannot be started; an error's message is told to the caller of a tool.
 */
export type StartServerProcess = (
  serverName: string,
  config: McpStdioServerConfig,
  signal: AbortSignal,
) => Promise<ServerProcess>;

/** The program of a server. */
export interface ServerProcess {
  /** Standard output to the end. One reader. Never throws. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when more can be written. Never rejects: what nobody reads is dropped. */
  write(bytes: Uint8Array): Promise<void>;
  /** The program reads an end of file after what was written. */
  endInput(): void;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<ServerProcessEnd>;
  /** Kills it and everything it has started. */
  stop(): Promise<ServerProcessEnd>;
}

/** How a program ended. */
export interface ServerProcessEnd {
  /** Null when a signal ended it, or when it is not known. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The last of its standard error, bounded by whoever has started it. */
  readonly errorOutput: string;
}
