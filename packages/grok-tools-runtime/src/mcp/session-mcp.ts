import { type McpServerChange, type McpServerStatus, McpServers } from "@trivium/mcp";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { startMcpProcess } from "./start-mcp-process.ts";
import { ToolIndex } from "./tool-index.ts";

/** The MCP servers of a session and what the model knows of them. */
export class SessionMcp {
  readonly servers: McpServers;
  /** No server is configured. */
  readonly isEmpty: boolean;
  readonly #searchToolName: string | undefined;
  /** What the model was not told yet, by server. */
  readonly #changes = new Map<string, McpServerChange>();
  #index: ToolIndex | undefined;

  constructor(scope: SessionScope) {
    const { mcpServers } = scope.settings;
    this.isEmpty = Object.keys(mcpServers).length === 0;
    this.#searchToolName = scope.toolName("search_tool");
    this.servers = new McpServers({
      servers: mcpServers,
      startProcess: startMcpProcess(scope),
      clock: scope.clock,
      logger: scope.logger,
      onChange: (change) => {
        this.#index = undefined;
        this.#changes.set(change.server, change);
      },
    });
    this.servers.start();
  }

  /** The tools that are known now. */
  get index(): ToolIndex {
    this.#index ??= new ToolIndex(this.servers.tools());
    return this.#index;
  }

  /** Servers whose tools are not known, with the reason as far as there is one. */
  missing(): McpServerStatus[] {
    return this.servers.status().filter(({ state }) => state !== "ready" && state !== "lost");
  }

  /** What has happened since the last time, as one text. */
  takeChanges(): string[] {
    if (this.#changes.size === 0) return [];
    const lines = [...this.#changes.values()].map(
      ({ server, kind, toolCount }) =>
        `- ${server}: ${kind}, ${toolCount} ${toolCount === 1 ? "tool" : "tools"}`,
    );
    this.#changes.clear();
    const advice =
      this.#searchToolName === undefined ? "" : ` Find their tools with ${this.#searchToolName}.`;
    return [`MCP servers have changed.${advice}\n${lines.join("\n")}`];
  }
}

/** The MCP servers of a session. They are started with it and end with it. */
export const sessionMcp: ResourceDefinition<SessionMcp> = {
  name: "MCP servers",
  create: (scope) => new SessionMcp(scope),
  dispose: (mcp) => mcp.servers[Symbol.asyncDispose](),
  reminders: (mcp) => mcp.takeChanges(),
};
