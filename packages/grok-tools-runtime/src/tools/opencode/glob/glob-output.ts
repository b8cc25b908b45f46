import { z } from "zod";
import type { ToolOutputDefinition } from "../../../tool.ts";

/** The union value `Text` of a listing. A failure has the text only. */
export const globOutput: ToolOutputDefinition = {
  schema: z.object({
    type: z.literal("Text"),
    text: z.string(),
    tool_output_for_prompt: z.string().optional(),
    count: z.int().optional(),
    total_count: z.int().optional(),
    truncated: z.boolean().optional(),
    entries: z.array(z.string()).optional(),
    cwd_for_display: z.string().optional(),
  }),
  fields: [
    { name: "text", description: "What the model reads.", type: "string", potentiallyLarge: true },
    { name: "tool_output_for_prompt", description: "The same.", type: "string", potentiallyLarge: true },
    { name: "count", description: "Listed files.", type: "number" },
    { name: "total_count", description: "Files that match.", type: "number" },
    { name: "truncated", description: "True when files are missing.", type: "boolean" },
    { name: "entries", description: "The listed paths, absolute.", type: "array" },
    { name: "cwd_for_display", description: "The working directory.", type: "string" },
  ],
};
