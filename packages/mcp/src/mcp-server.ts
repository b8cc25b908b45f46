import { abortable, abortReason, linkSignals, TriviumError } from "@trivium/core";
import { callFailureOf, messageOf } from "./call-failure.ts";
import type { McpCallOutcome, McpFailure, McpTool } from "./mcp-tool.ts";
import { withoutSecrets } from "./redact-secrets.ts";
import { isStdioServer, type McpServerConfig } from "./server-config.ts";
import { ServerSession, type SessionDeps } from "./server-session.ts";

const DEFAULT_STARTUP_MS = 30_000;
const DEFAULT_CALL_MS = 120_000;

/** What is known of a server. */
export interface McpServerStatus {
  readonly name: string;
  /** `idle`: not started yet; `lost`: it was connected, and the next use connects it again. */
  readonly state: "idle" | "starting" | "ready" | "lost" | "failed" | "closed";
  readonly toolCount: number;
  /** Why it failed. */
  readonly error?: string | undefined;
}

/** Something has happened to the tools of a server. */
export interface McpServerChange {
  readonly server: string;
  readonly kind: "connected" | "updated" | "disconnected";
  readonly toolCount: number;
}

export interface McpServerDeps extends Omit<SessionDeps, "onToolsChanged" | "onLost"> {
  onChange(change: McpServerChange): void;
}

/** One configured server: connected on first use, connected again when the connection was lost. */
export class McpServer {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #deps: McpServerDeps;
  readonly #closing = new AbortController();
  #state: McpServerStatus["state"] = "idle";
  #error: string | undefined;
  /** Monotonic; when it failed last. */
  #failedMs = 0;
  #session: ServerSession | undefined;
  #opening: Promise<ServerSession> | undefined;
  /** Connections that were given up and are ending. */
  readonly #ending = new Set<Promise<void>>();
  #tools: readonly McpTool[] = [];

  constructor(name: string, config: McpServerConfig, deps: McpServerDeps) {
    this.name = name;
    this.#config = config;
    this.#deps = deps;
  }

  /** Tools as last listed. They stay when the connection is lost: the next call connects again. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  get status(): McpServerStatus {
    return { name: this.name, state: this.#state, toolCount: this.#tools.length, error: this.#error };
  }

  /** Whether it has failed, at least so long ago. */
  hasFailedFor(ms: number): boolean {
    return this.#state === "failed" && this.#deps.clock.monotonic() - this.#failedMs >= ms;
  }

  /**
   * Connects, if it is not connected.
   *
   * @throws {@link TriviumError} `unavailable` or `unauthenticated` with the reason; the reason of `signal`, which
   * ends only this wait.
   */
  async connect(signal: AbortSignal): Promise<void> {
    await this.#connected(signal);
  }

  /**
   * Calls a tool. The time of the call includes connecting.
   *
   * @throws the reason of `signal`.
   */
  async callTool(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<McpCallOutcome> {
    const { toolTimeoutsMs = {}, callTimeoutMs = DEFAULT_CALL_MS } = this.#config;
    const ownTimeoutMs = Object.hasOwn(toolTimeoutsMs, tool) ? toolTimeoutsMs[tool] : undefined;
    const timeoutMs = ownTimeoutMs ?? callTimeoutMs;
    using link = linkSignals([signal, this.#closing.signal], { timeoutMs, clock: this.#deps.clock });
    let wasReconnected = this.#state === "lost";
    for (;;) {
      let session: ServerSession | undefined;
      try {
        session = await this.#connected(link.signal);
        return { ...(await session.callTool(tool, input, link.signal)), wasReconnected };
      } catch (thrown) {
        if (signal.aborted) throw abortReason(signal);
        const failure = link.signal.aborted
          ? this.#aborted(timeoutMs)
          : session === undefined
            ? unreachable(thrown)
            : this.#failed(session, thrown, { tool, wasReconnected });
        if (failure !== "again") return { ...failure, wasReconnected };
        wasReconnected = true;
      }
    }
  }

  /** Ends the connection and whatever is being done over it. */
  async close(): Promise<void> {
    this.#state = "closed";
    this.#closing.abort(new TriviumError("unavailable", `the MCP server ${this.name} is being closed`));
    await this.#opening?.catch(() => {
      // It was only waited for.
    });
    this.#giveUp(this.#session);
    await Promise.all(this.#ending);
  }

  /** Nothing came in time, or nobody may wait any longer. */
  #aborted(timeoutMs: number): McpFailure {
    if (this.#closing.signal.aborted) {
      const message = abortReason(this.#closing.signal).message;
      return { kind: "failure", reason: "unavailable", message };
    }
    const message = `no answer within ${timeoutMs} ms`;
    return { kind: "failure", reason: "timed-out", message };
  }

  /** Decides whether a failed request is made again. */
  #failed(
    session: ServerSession,
    thrown: unknown,
    { tool, wasReconnected }: { readonly tool: string; readonly wasReconnected: boolean },
  ): McpFailure | "again" {
    const { reason, mayReconnect, wasNotExecuted, ...failed } = callFailureOf(
      thrown,
      !isStdioServer(this.#config),
    );
    const message = withoutSecrets(failed.message, this.#config);
    const failure: McpFailure = { kind: "failure", reason, message };
    if (!mayReconnect) return failure;
    this.#lose(session);
    if (wasReconnected) return failure;
    if (wasNotExecuted || this.#isRepeatable(tool)) return "again";
    return {
      ...failure,
      message: `${message}; the tool may have done its work before, so it was not called a second time`,
    };
  }

  #isRepeatable(tool: string): boolean {
    const hints = this.#tools.find(({ name }) => name === tool)?.hints;
    return hints?.readOnly === true || hints?.idempotent === true;
  }

  #connected(signal: AbortSignal): Promise<ServerSession> {
    if (this.#session !== undefined) return Promise.resolve(this.#session);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return abortable(this.#opening, signal);
  }

  async #open(): Promise<ServerSession> {
    const { clock } = this.#deps;
    const timeoutMs = this.#config.startupTimeoutMs ?? DEFAULT_STARTUP_MS;
    using link = linkSignals([this.#closing.signal], { timeoutMs, clock });
    if (this.#closing.signal.aborted) throw abortReason(this.#closing.signal);
    this.#state = "starting";
    this.#error = undefined;
    try {
      const session = await ServerSession.open(this.name, this.#config, {
        ...this.#deps,
        signal: link.signal,
        onToolsChanged: (changed) => this.#takeTools(changed, "updated"),
        onLost: (lost) => this.#lose(lost),
      });
      this.#session = session;
      this.#state = "ready";
      this.#takeTools(session, "connected");
      return session;
    } catch (cause) {
      const isLate = link.signal.aborted && !this.#closing.signal.aborted;
      const reason = isLate
        ? `it was not ready within ${timeoutMs} ms`
        : withoutSecrets(messageOf(cause), this.#config);
      if (this.#closing.signal.aborted) throw abortReason(this.#closing.signal);
      this.#state = "failed";
      this.#failedMs = clock.monotonic();
      this.#error = reason;
      this.#deps.logger.warn({ server: this.name, reason }, "an MCP server cannot be used");
      const isUnauthorized = TriviumError.isInstance(cause) && cause.kind === "unauthenticated";
      throw new TriviumError(isUnauthorized ? "unauthenticated" : "unavailable", reason, { cause });
    }
  }

  #takeTools(session: ServerSession, kind: "connected" | "updated"): void {
    if (this.#session !== session) return;
    this.#tools = session.tools;
    this.#deps.onChange({ server: this.name, kind, toolCount: this.#tools.length });
  }

  /** The connection is of no more use. */
  #lose(session: ServerSession): void {
    if (this.#session !== session) return;
    this.#giveUp(session);
    if (this.#closing.signal.aborted) return;
    this.#state = "lost";
    this.#deps.onChange({ server: this.name, kind: "disconnected", toolCount: this.#tools.length });
  }

  #giveUp(session: ServerSession | undefined): void {
    if (session === undefined) return;
    this.#session = undefined;
    const ending = session.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

function unreachable(thrown: unknown): McpFailure {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const isUnauthorized = TriviumError.isInstance(thrown) && thrown.kind === "unauthenticated";
  return { kind: "failure", reason: isUnauthorized ? "unauthorized" : "unavailable", message };
}
