import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import { openDocument } from "../../../memory/find-document.ts";
import { memoryDependency } from "../../../memory/memory-dependency.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

interface MemoryGetInput {
  readonly path: string;
  readonly from: number | undefined;
  readonly lines: number | undefined;
}

const input: z.ZodType<MemoryGetInput> = z.object({
  path: z.string().describe("The note, as the search printed it or relative to the folder of the notes."),
  from: absentable(lenientInteger({ min: 0 })).describe("First line to show, from 1. Default: the start."),
  lines: absentable(lenientInteger({ min: 0 })).describe("How many lines to show. Default: all."),
});

/** GrokBuild:memory_get: lines of one note. */
export const memoryGet: Tool = defineTool({
  id: "GrokBuild:memory_get",
  kind: "memory_get",
  capabilities: { readOnly: true },
  description: `Reads a note of the memory, whole or some of its lines. Find notes with \`\${{ tools.by_kind.memory_search }}\`. Other files cannot be read with it.`,
  input,
  output: {
    schema: z.object({ type: z.literal("Text"), text: z.string() }),
    fields: [{ name: "text", description: "The lines.", type: "string", potentiallyLarge: true }],
  },
  dependency: memoryDependency,
  async run({ path: given, from, lines }, context) {
    const field = context.parameterName("path");
    if (given.trim() === "") throw ToolError.invalidField(field, `${field} is blank; name a note`);
    const { path, file } = await openDocument(given, context);
    await using open = file;
    const all = (await open.handle.readFile("utf8")).split("\n");
    context.touched({ access: "read", path });
    const first = Math.max(1, from ?? 1);
    const shown = all.slice(first - 1, lines === undefined ? undefined : first - 1 + lines);
    const text = [
      `**File:** ${path}`,
      `**Lines:** ${shown.length} (from: ${from === undefined ? "start" : first}, limit: ${lines ?? "all"})`,
      "",
      ...shown.map((line, index) => `${first + index}→${line.replace(/\r$/, "")}`),
    ].join("\n");
    return { output: { type: "Text", text }, promptText: text };
  },
});
