import type { McpServerStatus } from "@trivium/mcp";
import { z } from "zod";
import { lenientInteger } from "../../../input/lenient.ts";
import { type SessionMcp, sessionMcp } from "../../../mcp/session-mcp.ts";
import type { FoundTool } from "../../../mcp/tool-index.ts";
import { shorten } from "../../../shorten.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";

interface SearchToolInput {
  readonly query: string;
  readonly limit: number;
}

const input: z.ZodType<SearchToolInput> = z.object({
  query: z
    .string()
    .describe("What the tool should do, in keywords, or its exact name. Blank: the first tools there are."),
  limit: lenientInteger({ min: 0, max: 255 }).default(5).describe("Most tools to show."),
});

/** A search waits so long for servers that are being started. */
const START_WAIT_MS = 5_000;
const MAX_DESCRIPTION_CHARS = 2_048;
const CUT_MARK = " [cut]";

/** GrokBuild:search_tool: finds tools of MCP servers by keywords. */
export const searchTool: Tool = defineTool({
  id: "GrokBuild:search_tool",
  kind: "search_tool",
  capabilities: { readOnly: false },
  description: `Finds tools that MCP servers offer, by keywords.

- Each hit has the name to call it by, what it does and its input schema.
- Call a tool you have found with \`\${{ tools.by_kind.use_tool }}\`; MCP tools cannot be called directly.
- The status is \`partial\` while servers are missing; search again later then.`,
  input,
  output: {
    schema: z.union([
      z.object({ type: z.literal("SearchTool"), result_count: z.int(), content: z.string() }),
      z.object({ type: z.literal("Text"), text: z.string() }),
    ]),
    fields: [
      { name: "result_count", description: "Number of tools found.", type: "number" },
      {
        name: "content",
        description: "JSON text with the hits by server.",
        type: "string",
        potentiallyLarge: true,
      },
    ],
  },
  resources: [sessionMcp],
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  run: search,
});

async function search(given: SearchToolInput, context: ToolContext<undefined>): Promise<ToolResult> {
  const mcp = context.resource(sessionMcp);
  if (mcp.isEmpty) {
    const text = toText({ found: [], total: 0, status: "ready", note: "no MCP server is configured" });
    return { output: { type: "Text", text }, promptText: text };
  }
  await mcp.servers.settled(START_WAIT_MS, context.signal);
  const found = mcp.index.find(given.query, given.limit);
  const missing = mcp.missing();
  const content = toText({
    found,
    total: mcp.index.size,
    status: missing.length === 0 ? "ready" : "partial",
    note: noteOf(mcp, found.length, missing),
  });
  return { output: { type: "SearchTool", result_count: found.length, content }, promptText: content };
}

interface Answer {
  readonly found: readonly FoundTool[];
  readonly total: number;
  readonly status: "ready" | "partial";
  readonly note: string;
}

function toText({ found, total, status, note }: Answer): string {
  return JSON.stringify({ results: groupByServer(found), total_hidden_tools: total, status, note }, null, 2);
}

/** Servers in the order of their best tool. */
function groupByServer(found: readonly FoundTool[]): object[] {
  const groups = Map.groupBy(found, ({ tool }) => tool.server);
  return [...groups].map(([server, tools]) => ({
    server,
    tools: tools.map(({ qualifiedName, tool, score }) => ({
      tool_name: qualifiedName,
      description: cutDescription(tool.description),
      score,
      input_schema: tool.inputSchema,
    })),
  }));
}

function cutDescription(description: string): string {
  if (description.length <= MAX_DESCRIPTION_CHARS) return description;
  return shorten(description, MAX_DESCRIPTION_CHARS - CUT_MARK.length) + CUT_MARK;
}

function noteOf({ index }: SessionMcp, foundCount: number, missing: readonly McpServerStatus[]): string {
  const found =
    foundCount > 0 || index.size === 0 ? [] : ["no tool fits; try other words, or a blank query for a list"];
  const absent = missing.map(({ name, state, error }) => {
    if (state === "failed") return `${name} cannot be used: ${shorten(error ?? "no reason is known")}`;
    return `${name} is still being started`;
  });
  return [...found, ...absent].join("; ");
}
