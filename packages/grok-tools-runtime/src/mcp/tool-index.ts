import type { McpTool } from "@trivium/mcp";
import MiniSearch from "minisearch";
import { byQualifiedName } from "./tool-names.ts";

/** A tool that fits a query. */
export interface FoundTool {
  readonly qualifiedName: string;
  readonly tool: McpTool;
  /** Larger is better; only the order means something. */
  readonly score: number;
}

/** Words in names of parameters and tools tell more than those in texts. */
const boost = { name: 4, server: 2, parameters: 1, description: 1 };

/** Keyword search (BM25) over the tools of MCP servers. */
export class ToolIndex {
  readonly #tools: ReadonlyMap<string, McpTool>;
  readonly #search: MiniSearch;

  constructor(tools: readonly McpTool[]) {
    this.#tools = byQualifiedName(tools);
    this.#search = new MiniSearch({
      fields: ["name", "server", "parameters", "description"],
      tokenize: splitWords,
      processTerm: (term) => term.toLowerCase(),
    });
    this.#search.addAll(
      [...this.#tools].map(([id, { name, server, description, inputSchema }]) => ({
        id,
        name,
        server,
        description,
        parameters: parameterNames(inputSchema).join(" "),
      })),
    );
  }

  get size(): number {
    return this.#tools.size;
  }

  /** All qualified names. */
  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  /** The tool of a qualified name. */
  get(qualifiedName: string): McpTool | undefined {
    return this.#tools.get(qualifiedName);
  }

  /** The best tools for a query, the best first; of a blank query the first tools. The very name always wins. */
  find(query: string, limit: number): FoundTool[] {
    const wanted = query.trim();
    const ranked =
      wanted === ""
        ? [...this.#tools.keys()].map((id) => ({ id, score: 0 }))
        : this.#search.search(wanted, { boost, prefix: (term) => term.length >= 3 }).map(toRanked);
    const best = ranked[0]?.score ?? 0;
    const exact = this.#tools.has(wanted) ? [{ id: wanted, score: best + 1 }] : [];
    return [...exact, ...ranked.filter(({ id }) => exact.length === 0 || id !== wanted)]
      .slice(0, limit)
      .flatMap(({ id, score }) => {
        const tool = this.#tools.get(id);
        return tool === undefined
          ? []
          : [{ qualifiedName: id, tool, score: Math.round(score * 1000) / 1000 }];
      });
  }
}

const toRanked = ({ id, score }: { id: unknown; score: number }): { id: string; score: number } => ({
  id: String(id),
  score,
});

/** Words of a text or a name: `createIssue`, `create_issue` and `create issue` are the same. */
function splitWords(text: string): string[] {
  return text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

function parameterNames({ properties }: McpTool["inputSchema"]): string[] {
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}
