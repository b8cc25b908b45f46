import type { Logger } from "@trivium/core";
import type { McpAnswer, McpPort, McpResultContent, McpToolDescription } from "../ports/mcp-port.ts";
import { failed, type Tool, type ToolOutcome } from "../tools/tool.ts";
import { inputCheck } from "./input-check.ts";
import { mcpToolName, mcpToolPrefix } from "./mcp-tool-name.ts";
import type { McpServerSettings } from "./read-mcp-servers.ts";

/** Where the tools of servers come from. */
export interface McpToolsOptions {
  readonly port: Pick<McpPort, "tools" | "callTool">;
  /** Of every configured server, by name. */
  readonly settings: ReadonlyMap<string, Pick<McpServerSettings, "isTrusted">>;
  /** Which tool has a name, from one call to the next. */
  readonly owners: Map<string, string>;
  readonly logger: Logger;
}

/**
 * The tools that the servers have now. Of two with one name the first stays, also when it is gone for a while; a name
 * that begins like those of another server is that server's. So a rule or a grant for a name means one tool.
 */
export function mcpTools({ port, settings, owners, logger }: McpToolsOptions): Tool[] {
  const prefixes = [...settings.keys()].map(mcpToolPrefix);
  const tools = new Map<string, Tool>();
  for (const description of port.tools()) {
    const { server, name } = description;
    const tool = toTool(port, description, { isTrusted: settings.get(server)?.isTrusted === true });
    const own = mcpToolPrefix(server);
    const isOfAnother = prefixes.some(
      (prefix) => prefix.length > own.length && prefix.startsWith(own) && tool.name.startsWith(prefix),
    );
    const owner = JSON.stringify([server, name]);
    const isTaken = (owners.get(tool.name) ?? owner) !== owner;
    if (isOfAnother || isTaken || tools.has(tool.name)) {
      logger.warn({ server, name, as: tool.name }, "the name of an MCP tool belongs to another one");
    } else {
      owners.set(tool.name, owner);
      tools.set(tool.name, tool);
    }
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
