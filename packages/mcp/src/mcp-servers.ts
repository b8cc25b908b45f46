import { abortable, type Clock, type Logger, linkSignals, TriviumError } from "@trivium/core";
import { McpServer, type McpServerChange, type McpServerStatus } from "./mcp-server.ts";
import type { McpCallOutcome, McpTool } from "./mcp-tool.ts";
import { isStdioServer, type McpServerConfig } from "./server-config.ts";
import type { StartServerProcess } from "./server-process.ts";

/** What {@link McpServers} works with. */
export interface McpServersOptions {
  /** By name. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  readonly startProcess: StartServerProcess;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a server was connected, has listed its tools anew or was lost. Must not throw and not wait. */
  readonly onChange?: ((change: McpServerChange) => void) | undefined;
}

/**
 * The MCP servers of one owner. Each is connected by {@link McpServers.start} or by its first call, and again after its
 * connection was lost. Disposing ends them all, with their programs.
 */
export class McpServers implements AsyncDisposable {
  readonly #servers: ReadonlyMap<string, McpServer>;
  readonly #clock: Clock;
  #starting: Promise<unknown> = Promise.resolve();

  /** @throws {@link TriviumError} `invalidInput` for an address that is none. */
  constructor({ servers, startProcess, clock, logger, onChange }: McpServersOptions) {
    this.#clock = clock;
    const deps = { startProcess, clock, logger, onChange: (change: McpServerChange) => onChange?.(change) };
    this.#servers = new Map(
      Object.entries(servers).map(([name, config]) => {
        checkAddress(name, config);
        return [name, new McpServer(name, config, deps)];
      }),
    );
  }

  /** Begins to connect every server that was not tried yet. Failures are told by {@link McpServers.status}. */
  start(): void {
    const never = new AbortController().signal;
    const idle = [...this.#servers.values()].filter(({ status }) => status.state === "idle");
    this.#starting = Promise.allSettled([this.#starting, ...idle.map((server) => server.connect(never))]);
  }

  /**
   * Begins to connect every server again that has failed at least `afterMs` ago. {@link McpServers.settled} does not wait
   * for them.
   */
  retry(afterMs: number): void {
    const never = new AbortController().signal;
    for (const server of this.#servers.values()) {
      // It is told by its status, and logged.
      if (server.hasFailedFor(afterMs)) server.connect(never).catch(() => {});
    }
  }

  /**
   * Waits until no server is being started, at most `timeoutMs`.
   *
   * @throws the reason of `signal`.
   */
  async settled(timeoutMs: number, signal: AbortSignal): Promise<void> {
    using limit = linkSignals([signal], { timeoutMs, clock: this.#clock });
    await abortable(this.#starting, limit.signal).catch((reason: unknown) => {
      if (signal.aborted) throw reason;
    });
  }

  /** One entry per configured server, in the order of the configuration. */
  status(): readonly McpServerStatus[] {
    return [...this.#servers.values()].map((server) => server.status);
  }

  /** The tools of all servers as far as they are known. */
  tools(): readonly McpTool[] {
    return [...this.#servers.values()].flatMap((server) => server.tools);
  }

  /**
   * Connects one server.
   *
   * @throws {@link TriviumError} `notFound` for a name that is not configured, `unavailable` or `unauthenticated` with
   * the reason; the reason of `signal`.
   */
  async connect(server: string, signal: AbortSignal): Promise<void> {
    await this.#get(server).connect(signal);
  }

  /**
   * Calls a tool by its name on its server. Whether the server has it is for the server to say.
   *
   * @throws {@link TriviumError} `notFound` for a server that is not configured; the reason of `signal`.
   */
  async callTool(
    { server, name }: Pick<McpTool, "server" | "name">,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<McpCallOutcome> {
    return await this.#get(server).callTool(name, input, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  #get(name: string): McpServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const known = [...this.#servers.keys()].join(", ") || "none";
    throw new TriviumError("notFound", `no MCP server named ${name}; configured are: ${known}`);
  }
}

function checkAddress(name: string, config: McpServerConfig): void {
  if (isStdioServer(config)) return;
  const protocol = URL.parse(config.url)?.protocol;
  if (protocol === "http:" || protocol === "https:") return;
  throw new TriviumError("invalidInput", `the address of the MCP server ${name} is not an http or https URL`);
}
