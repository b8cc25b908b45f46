import { z } from "zod";
import { lenientInteger } from "../../../input/lenient.ts";
import { memoryDependency } from "../../../memory/memory-dependency.ts";
import { type MemoryHit, memoryIndex } from "../../../memory/memory-index.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

interface MemorySearchInput {
  readonly query: string;
  readonly max_results: number;
  readonly min_score: number;
}

const input: z.ZodType<MemorySearchInput> = z.object({
  query: z.string().describe("Words to look for."),
  max_results: lenientInteger({ min: 1, max: 50 }).default(6).describe("Results to show, 1 to 50."),
  min_score: z.number().default(0).describe("Leave out results below this score, 0 to 1."),
});

/** GrokBuild:memory_search: notes of the project, the session and the user that have the words of a query. */
export const memorySearch: Tool = defineTool({
  id: "GrokBuild:memory_search",
  kind: "memory_search",
  capabilities: { readOnly: true },
  description: `Searches the notes that were kept for later: those of the project (\`.grok/memory\`), of this session and, where there are any, the user's own.

- Gives the best passages with their file and lines, scored from 0 to 1.
- Read the whole of a note with \`\${{ tools.by_kind.memory_get }}\`.
- Notes can be out of date: check what they say against the files before you rely on it.`,
  input,
  output: {
    schema: z.object({ type: z.literal("Text"), text: z.string() }),
    fields: [{ name: "text", description: "The results.", type: "string", potentiallyLarge: true }],
  },
  resources: [memoryIndex],
  dependency: memoryDependency,
  async run({ query, max_results, min_score }, context) {
    const field = context.parameterName("query");
    if (query.trim() === "") throw ToolError.invalidField(field, `${field} is blank; give words to look for`);
    const found = await context.resource(memoryIndex).search(query, context.signal);
    const hits = found.filter(({ score }) => score >= min_score).slice(0, max_results);
    for (const path of new Set(hits.map((hit) => hit.path))) context.touched({ access: "read", path });
    const text = hits.length === 0 ? "The memory has no results for this query." : describe(hits);
    return { output: { type: "Text", text }, promptText: text };
  },
});

function describe(hits: readonly MemoryHit[]): string {
  const results = hits.map((hit, index) =>
    [
      `### Result ${index + 1} (score: ${hit.score.toFixed(2)}, source: ${hit.source})`,
      `**File:** ${hit.path} (lines ${hit.chunk.firstLine}-${hit.chunk.lastLine})`,
      ...staleness(hit),
      fenced(hit.chunk.text),
    ].join("\n"),
  );
  return [`Found ${hits.length} memory result(s):`, ...results].join("\n\n");
}

function staleness({ source, ageDays }: MemoryHit): string[] {
  if (source !== "session" || ageDays <= 1) return [];
  const age = `${Math.floor(ageDays)} day(s) old`;
  return ageDays <= 7
    ? [`*This note is ${age}.*`]
    : [`*This note is ${age} and may no longer be true: verify it before you use it.*`];
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}
