import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { abortable, abortReason, type Logger, linkSignals, sleep, TriviumError } from "@trivium/core";
import { callFailureOf, messageOf } from "./call-failure.ts";
import { type McpResult, type McpTool, toMcpResult, toMcpTool } from "./mcp-tool.ts";
import { isStdioServer, type McpServerConfig } from "./server-config.ts";
import { type OpenTransport, openTransport, type TransportDeps } from "./transport/open-transport.ts";

/** Who we say we are. */
const clientInfo = { name: "trivium", version: "0.1.0" } as const;
/** The library has a timer of its own; ours is the one that counts. */
const NEVER_MS = 2 ** 31 - 1;
/** A server that lists more has lost its way. */
const MAX_TOOLS = 5000;
const MAX_PAGES = 500;
/** For a changed list. The first one is part of the start. */
const LIST_MS = 30_000;
/** Between two changed lists. */
const LIST_PAUSE_MS = 1000;
const MAX_LAST_WORDS = 500;

export interface SessionDeps extends TransportDeps {
  readonly logger: Logger;
  /** The tools have changed. */
  onToolsChanged(session: ServerSession): void;
  /** The connection is gone without having been closed. */
  onLost(session: ServerSession): void;
}

/** One live connection to a server. */
export class ServerSession {
  readonly #name: string;
  readonly #client: Client;
  readonly #way: OpenTransport;
  #tools: readonly McpTool[] = [];
  #isRefreshing = false;
  #isStale = false;
  readonly #closing = new AbortController();

  private constructor(name: string, client: Client, way: OpenTransport) {
    this.#name = name;
    this.#client = client;
    this.#way = way;
  }

  /**
   * Starts or reaches a server and asks for its tools. A server elsewhere that refuses the newer way is tried by the
   * older one.
   *
   * @throws {@link TriviumError} `unavailable` with what is known of the reason, `unauthenticated` when the server
   * wants other credentials, what the start of the program threw; the reason of `signal`.
   */
  static async open(
    name: string,
    config: McpServerConfig,
    deps: SessionDeps & { readonly signal: AbortSignal },
  ): Promise<ServerSession> {
    try {
      return await ServerSession.#open(name, config, deps);
    } catch (cause) {
      if (isStdioServer(config) || config.transport !== undefined || !isRefusedWay(cause)) throw cause;
      try {
        return await ServerSession.#open(name, { ...config, transport: "sse" }, deps);
      } catch {
        // What it said first tells more.
        throw cause;
      }
    }
  }

  static async #open(
    name: string,
    config: McpServerConfig,
    { signal, ...deps }: SessionDeps & { readonly signal: AbortSignal },
  ): Promise<ServerSession> {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    signal.throwIfAborted();
    const way = await openTransport(name, config, { ...deps, signal });
    const session = new ServerSession(name, new Client(clientInfo), way);
    try {
      await session.#connect(signal, deps);
      return session;
    } catch (cause) {
      await session.close();
      if (signal.aborted) throw abortReason(signal);
      const { reason } = callFailureOf(cause, !isStdioServer(config));
      const kind = reason === "unauthorized" ? "unauthenticated" : "unavailable";
      throw new TriviumError(kind, await session.#whyNot(cause), { cause });
    }
  }

  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /**
   * Calls a tool.
   *
   * @throws the library's errors as they are, and the reason of `signal`; the server is told that nobody waits then.
   */
  async callTool(
    toolName: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<McpResult> {
    const { CallToolResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
    // Not the library's `callTool`: it would refuse answers that do not fit what the server says of them.
    const request = { method: "tools/call" as const, params: { name: toolName, arguments: { ...input } } };
    const asked = this.#client.request(request, CallToolResultSchema, { signal, timeout: NEVER_MS });
    const result: CallToolResult = await abortable(asked, signal);
    return toMcpResult(result);
  }

  /** Ends the connection, and the server's program if it has one. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#way.close();
    await this.#client.close();
  }

  async #connect(signal: AbortSignal, deps: Omit<SessionDeps, "signal">): Promise<void> {
    const client = this.#client;
    client.onerror = (cause) => deps.logger.debug({ server: this.#name, cause }, "an MCP connection");
    const types = await import("@modelcontextprotocol/sdk/types.js");
    client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => this.#refresh(deps));
    client.onclose = () => {
      if (!this.#closing.signal.aborted) deps.onLost(this);
    };
    await abortable(client.connect(this.#way.transport, { signal, timeout: NEVER_MS }), signal);
    if (client.getServerCapabilities()?.tools !== undefined) this.#tools = await this.#listTools(signal);
  }

  /** A server may tell of many changes at once: one question is on its way, and one more follows it. */
  #refresh(deps: Omit<SessionDeps, "signal">): void {
    this.#isStale = true;
    // Nothing waits for it: a server that always tells of changes would have ever more waiting.
    if (!this.#isRefreshing) void this.#refreshUntilFresh(deps);
  }

  async #refreshUntilFresh(deps: Omit<SessionDeps, "signal">): Promise<void> {
    this.#isRefreshing = true;
    try {
      while (this.#isStale && !this.#closing.signal.aborted) {
        this.#isStale = false;
        using limit = linkSignals([], { timeoutMs: LIST_MS, clock: deps.clock });
        this.#tools = await this.#listTools(limit.signal);
        deps.onToolsChanged(this);
        // A server that changes its tools all the time is asked now and then.
        await sleep(deps.clock, LIST_PAUSE_MS, this.#closing.signal);
      }
    } catch (cause) {
      if (this.#closing.signal.aborted) return;
      // The list stays as it was. A lost connection is told by `onLost`.
      deps.logger.warn({ server: this.#name, cause }, "an MCP server did not list its changed tools");
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #listTools(signal: AbortSignal): Promise<McpTool[]> {
    const { ListToolsResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    for (let pageCount = 0; pageCount < MAX_PAGES; pageCount += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const options = { signal, timeout: NEVER_MS };
      const asked = this.#client.request({ method: "tools/list", params }, ListToolsResultSchema, options);
      const page = await abortable(asked, signal);
      for (const tool of page.tools.slice(0, MAX_TOOLS - tools.length)) {
        tools.push(toMcpTool(this.#name, tool));
      }
      cursor = page.nextCursor;
      if (cursor === undefined || tools.length === MAX_TOOLS) return tools;
    }
    throw new TriviumError("outOfRange", `the list of its tools has more than ${MAX_PAGES} pages`);
  }

  /** Why a connection failed, with the last words of the program. */
  async #whyNot(cause: unknown): Promise<string> {
    const reason = messageOf(cause);
    const end = await this.#way.processEnd();
    if (end === undefined) return reason;
    const how = end.signal === null ? `exit code ${end.exitCode}` : `signal ${end.signal}`;
    const lastWords = end.errorOutput.trim().slice(-MAX_LAST_WORDS);
    const ended = `its program has ended (${how})`;
    return lastWords === "" ? `${reason}; ${ended}` : `${reason}; ${ended}, its last words: ${lastWords}`;
  }
}

/** How servers of the older way answer the first request of the newer one. */
const REFUSING_STATUS: ReadonlySet<unknown> = new Set([400, 404, 405]);

function isRefusedWay(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error && "code" in cause && REFUSING_STATUS.has(cause.code);
}
