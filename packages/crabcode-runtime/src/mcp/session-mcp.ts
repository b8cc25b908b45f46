import { type Logger, TriviumError } from "@trivium/core";
import type { McpPort, OpenMcp } from "../ports/mcp-port.ts";
import type { Tool } from "../tools/tool.ts";
import { mcpTools } from "./mcp-tools.ts";
import { type McpServerSettings, type McpServerSources, readMcpServers } from "./read-mcp-servers.ts";

/** Every server is connected or given up by then. */
const SETTLED_MS = 30_000;
/** One that has failed is not tried again sooner. */
const RETRY_MS = 30_000;

/** What the servers of a session are made of. */
export interface SessionMcpOptions {
  readonly sessionId: string;
  readonly sources: McpServerSources;
  readonly open: OpenMcp;
  readonly logger: Logger;
}

/** The MCP servers of one session. They are started with its first run and end with it. */
export class SessionMcp implements AsyncDisposable {
  readonly #options: SessionMcpOptions;
  readonly #closing = new AbortController();
  /** Which tool has a name; it stays so, because grants go by names. */
  readonly #owners = new Map<string, string>();
  #servers: { readonly port: McpPort; readonly settings: ReadonlyMap<string, McpServerSettings> } | undefined;
  #isStarted = false;
  #tools: readonly Tool[] = [];

  constructor(options: SessionMcpOptions) {
    this.#options = options;
  }

  /** The tools as they were at the start of the last run. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /**
   * Takes over what the servers have now. The first time they are started, all at once, and waited for until each is
   * connected or has failed; an abort ends only the wait. Later those that have failed are tried again beside the run.
   */
  async refresh(signal: AbortSignal): Promise<readonly Tool[]> {
    if (this.#closing.signal.aborted) return this.#tools;
    if (this.#isStarted) this.#servers?.port.retry(RETRY_MS);
    else this.#start();
    if (this.#servers === undefined) return this.#tools;
    const { port, settings } = this.#servers;
    await port.settled(SETTLED_MS, signal).catch((thrown: unknown) => {
      if (!signal.aborted) throw thrown;
    });
    const { logger } = this.#options;
    this.#tools = mcpTools({ port, settings, owners: this.#owners, logger });
    return this.#tools;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#servers?.port[Symbol.asyncDispose]();
  }

  #start(): void {
    this.#isStarted = true;
    const { sessionId, sources, open, logger } = this.#options;
    const settings = readMcpServers(sources, logger);
    if (settings.size === 0) return;
    const entries = [...settings];
    const servers = Object.fromEntries(entries.map(([name, { definition }]) => [name, definition]));
    try {
      const port = open({ sessionId, cwd: sources.cwd, servers });
      this.#servers = { port, settings };
      port.start();
    } catch (cause) {
      // The conversation goes on without them.
      if (!TriviumError.isInstance(cause)) throw cause;
      logger.warn({ cause }, "the MCP servers of a session cannot be used");
    }
  }
}
