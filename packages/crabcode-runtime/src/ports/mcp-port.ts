/** How one MCP server is reached. */
export type McpServerDefinition = McpProgram | McpAddress;

interface McpTimes {
  /** From the start to the list of tools. */
  readonly startupTimeoutMs: number;
  /** For one call. */
  readonly callTimeoutMs: number;
}

/** A server that is started and talks over its standard input and output. */
export interface McpProgram extends McpTimes {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables besides those every server gets: a few of the surroundings, no keys. */
  readonly env: Readonly<Record<string, string>>;
}

/** A server that is reached over HTTP. */
export interface McpAddress extends McpTimes {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `sse`: only the older way, with a stream of events of its own. Absent: the newer one first. */
  readonly transport?: "sse";
}

/** A tool as its server describes it. */
export interface McpToolDescription {
  readonly server: string;
  /** Name on the server. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type `object`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly hints: { readonly readOnly: boolean };
}

/** One piece of a result. */
export type McpResultContent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image" | "audio"; readonly mimeType: string }
  | { readonly kind: "resource"; readonly value: unknown };

/** How a call ended. */
export type McpAnswer =
  | {
      readonly kind: "result";
      readonly content: readonly McpResultContent[];
      /** Undefined: none. */
      readonly structured: Readonly<Record<string, unknown>> | undefined;
      readonly isError: boolean;
    }
  | { readonly kind: "failure"; readonly message: string };

/** Port for the MCP servers of one session. Disposing it ends them, with what they have started. */
export interface McpPort extends AsyncDisposable {
  /** Begins to connect every server; one that fails is left out and logged. */
  start(): void;
  /** Waits until no server is being connected, at most so long. @throws the reason of `signal` */
  settled(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Begins to connect those again that failed at least so long ago; `settled` does not wait for them. */
  retry(afterMs: number): void;
  /** The tools that are known now. */
  tools(): readonly McpToolDescription[];
  /** @throws the reason of `signal` */
  callTool(
    tool: Pick<McpToolDescription, "server" | "name">,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<McpAnswer>;
}

/** Makes the port of one session. Nothing is started yet. @throws TriviumError for an address that is none */
export type OpenMcp = (session: {
  readonly sessionId: string;
  /** Absolute; programs work there. */
  readonly cwd: string;
  /** By name. */
  readonly servers: Readonly<Record<string, McpServerDefinition>>;
}) => McpPort;
