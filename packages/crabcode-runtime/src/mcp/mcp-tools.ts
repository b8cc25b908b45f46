import type { Logger } from "@trivium/core";
import type { McpAnswer, McpPort, McpResultContent, McpToolDescription } from "../ports/mcp-port.ts";
import { failed, type Tool, type ToolOutcome } from "../tools/tool.ts";
import { inputCheck } from "./input-check.ts";
import { mcpToolName } from "./mcp-tool-name.ts";

/** Where the tools of servers come from. */
export interface McpToolsOptions {
  readonly port: Pick<McpPort, "tools" | "callTool">;
  /** What this server says of its tools is believed. */
  readonly isTrusted: (server: string) => boolean;
  readonly logger: Logger;
}

/** The tools that the servers have now. Of two with one name the first stays. */
export function mcpTools({ port, isTrusted, logger }: McpToolsOptions): Tool[] {
  const tools = new Map<string, Tool>();
  for (const description of port.tools()) {
    const tool = toTool(port, description, { isTrusted: isTrusted(description.server) });
    if (tools.has(tool.name)) {
      const { server, name } = description;
      logger.warn({ server, name, as: tool.name }, "another tool of an MCP server has that name");
    } else tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

function toTool(
  port: McpToolsOptions["port"],
  { server, name, description, inputSchema, hints }: McpToolDescription,
  { isTrusted }: { readonly isTrusted: boolean },
): Tool {
  let check: ReturnType<typeof inputCheck> | undefined;
  return {
    name: mcpToolName(server, name),
    description: description.toWellFormed(),
    inputSchema,
    source: `mcp:${server}`,
    isReadOnly: isTrusted && hints.readOnly,
    isConcurrencySafe: true,
    prepare(input) {
      check ??= inputCheck(inputSchema);
      const problem = check(input);
      if (problem !== undefined) return { problem };
      return {
        target: undefined,
        opinion: undefined,
        run: async ({ signal }) => toOutcome(await port.callTool({ server, name }, input, signal)),
      };
    },
  };
}

function toOutcome(answer: McpAnswer): ToolOutcome {
  if (answer.kind === "failure") return failed(`Error: ${answer.message}`);
  const { content, structured, isError } = answer;
  const hasText = content.some(({ kind }) => kind === "text");
  const parts = content.map(contentText);
  // Servers repeat structured values as text for those who read only that.
  if (structured !== undefined && !hasText) parts.push(JSON.stringify(structured));
  return { result: parts.length === 0 ? "(no output)" : parts.join("\n"), isError };
}

function contentText(content: McpResultContent): string {
  switch (content.kind) {
    case "text":
      return content.text;
    case "image":
    case "audio":
      return `[${content.kind} ${content.mimeType} left out]`;
    case "resource":
      return JSON.stringify(content.value);
  }
}
