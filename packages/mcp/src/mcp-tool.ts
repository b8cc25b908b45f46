import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";

/** A tool of a server, as the server describes it. */
export interface McpTool {
  /** Name of the server in the configuration. */
  readonly server: string;
  /** Name on the server. */
  readonly name: string;
  /** Empty when the server gives none. */
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** What the server says of it; to be believed only as far as the server is. */
  readonly hints: McpToolHints;
}

export interface McpToolHints {
  readonly readOnly: boolean;
  /** Calling it again with the same input changes nothing further. */
  readonly idempotent: boolean;
}

/** One piece of a result. */
export type McpContent =
  | { readonly kind: "text"; readonly text: string }
  /** `data` is Base64. */
  | { readonly kind: "image"; readonly data: string; readonly mimeType: string }
  | { readonly kind: "audio"; readonly data: string; readonly mimeType: string }
  /** An embedded resource or a link to one, as the server sent it. */
  | { readonly kind: "resource"; readonly value: unknown };

/** How a call ended. Only its cancellation is thrown. */
export type McpCallOutcome = (McpResult | McpFailure) & {
  /** The connection was made anew for this call. */
  readonly wasReconnected: boolean;
};

/** The tool's own answer. */
export interface McpResult {
  readonly kind: "result";
  readonly content: readonly McpContent[];
  /** Undefined: none. */
  readonly structured: Readonly<Record<string, unknown>> | undefined;
  /** The tool says that it could not do what was asked. */
  readonly isError: boolean;
}

/** There is no answer of the tool. */
export interface McpFailure {
  readonly kind: "failure";
  /**
   * `timed-out`: no answer in time; `refused`: the server does not take the call; `unauthorized`: it wants other
   * credentials; `unavailable`: it cannot be reached, or the connection was lost.
   */
  readonly reason: "timed-out" | "refused" | "unauthorized" | "unavailable";
  readonly message: string;
}

/** The tool of a server from its description on the wire. */
export function toMcpTool(server: string, tool: Tool): McpTool {
  return {
    server,
    name: tool.name,
    description: tool.description ?? tool.title ?? "",
    inputSchema: tool.inputSchema,
    hints: {
      readOnly: tool.annotations?.readOnlyHint === true,
      idempotent: tool.annotations?.idempotentHint === true,
    },
  };
}

/** A result from what came over the wire. */
export function toMcpResult(result: CallToolResult): McpResult {
  return {
    kind: "result",
    content: result.content.map(toContent),
    structured: result.structuredContent,
    isError: result.isError === true,
  };
}

function toContent(block: CallToolResult["content"][number]): McpContent {
  switch (block.type) {
    case "text":
      return { kind: "text", text: block.text };
    case "image":
    case "audio":
      return { kind: block.type, data: block.data, mimeType: block.mimeType };
    case "resource":
      return { kind: "resource", value: block.resource };
    case "resource_link":
      return { kind: "resource", value: block };
  }
}
