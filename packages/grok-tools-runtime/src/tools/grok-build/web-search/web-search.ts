import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { absentable, lenientStringList } from "../../../input/lenient.ts";
import { defineTool, type Tool, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import { searchWeb, type WebSearchAnswer } from "../../../web/search/search-web.ts";

const MAX_QUERY_LENGTH = 2000;
const MAX_RESULTS = 20;
const MAX_CONTENT_BYTES = 40_000;
const TIMEOUT_MS = 30_000;

const input = z.object({
  query: z.string().describe("What to search for, at most 2000 characters."),
  allowed_domains: absentable(lenientStringList()).describe(
    "Only results of these domains, for example docs.rs.",
  ),
});

/** GrokBuild:web_search: results of a search on the web, with their addresses. */
export const webSearch: Tool = defineTool({
  id: "GrokBuild:web_search",
  kind: "web_search",
  capabilities: { readOnly: true, cancellable: true },
  description: `Searches the web and gives a numbered list of results with title, address and an extract.

- Use it for what may have changed since you were trained, and name your sources.
- \`\${{ params.web_search.allowed_domains }}\` narrows the search to some domains.`,
  input,
  output: {
    schema: z.object({
      type: z.literal("WebSearch"),
      query: z.string(),
      content: z.string(),
      citations: z.array(z.string()),
      allowed_domains: z.array(z.string()).nullable(),
    }),
    fields: [
      { name: "query", description: "What was searched for.", type: "string" },
      { name: "content", description: "The results.", type: "string", potentiallyLarge: true },
      { name: "citations", description: "Addresses of the results.", type: "array" },
      { name: "allowed_domains", description: "The domains the search was narrowed to.", type: "array" },
    ],
  },
  dependency: {
    name: "web_search_provider",
    setting: "tools.webSearch",
    isConfigured: ({ webSearch: settings }) => settings !== undefined,
  },
  truncation: { builtInMaxOutput: MAX_CONTENT_BYTES },
  async run({ query, allowed_domains: wanted }, context) {
    const settings = context.settings.webSearch;
    if (settings === undefined) throw new ToolError(ErrorCode.NOT_IMPLEMENTED, "there is no search provider");
    checkQuery(query, context.parameterName("query"));
    const request = { query, limit: MAX_RESULTS, timeoutMs: TIMEOUT_MS, signal: context.signal };
    const answer = await searchWeb({ ...request, wantedDomains: wanted ?? [] }, settings, context);
    const citations = [...new Set(answer.hits.map(({ url }) => url))];
    return searchResult({ query, content: contentOf(answer), citations, allow: answer.allow });
  },
});

function checkQuery(query: string, field: string): void {
  if (query.trim() === "") throw ToolError.invalidField(field, "the query is empty; say what to search for");
  if (query.length > MAX_QUERY_LENGTH) {
    throw ToolError.invalidField(
      field,
      `the query has ${query.length} characters, at most ${MAX_QUERY_LENGTH} are allowed`,
    );
  }
}

function contentOf({ hits, text }: WebSearchAnswer): string {
  if (text !== undefined && text.trim() !== "") return cut(text);
  if (hits.length === 0) return "No results were found.";
  const entries = hits.map(({ title, url, snippet }, index) =>
    [
      `${index + 1}. ${oneLine(title) || url}`,
      `   ${url}`,
      ...(snippet === "" ? [] : [`   ${oneLine(snippet)}`]),
    ].join("\n"),
  );
  return cut(entries.join("\n\n"));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_CONTENT_BYTES) return text;
  let end = MAX_CONTENT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

interface Found {
  readonly query: string;
  readonly content: string;
  readonly citations: readonly string[];
  readonly allow: readonly string[];
}

function searchResult({ query, content, citations, allow }: Found): ToolResult {
  return {
    output: {
      type: "WebSearch",
      query,
      content,
      citations,
      allowed_domains: allow.length === 0 ? null : allow,
    },
    promptText: `Results for: ${query}\n\n${content}`,
  };
}
