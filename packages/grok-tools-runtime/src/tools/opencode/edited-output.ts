import { z } from "zod";
import type { ToolOutputDefinition } from "../../tool.ts";
import { editDetailSchema, editReceiptSchema, searchReplaceSchema } from "../edit-output-schemas.ts";

const editsApplied = z.object({
  old_string: z.string().optional(),
  old_string_truncated: z.literal(true).optional(),
  new_string: z.string(),
  tool_output_for_prompt: z.string(),
  tool_output_for_prompt_concise: z.string().optional(),
  absolute_path: z.string(),
  edits: z.object({ details: z.array(editDetailSchema), details_omitted: z.int().optional() }),
  match_level: z.string().optional(),
  receipt: editReceiptSchema,
});

/** The union value `SearchReplace` of the tools of this namespace. */
export const editedOutput: ToolOutputDefinition = {
  schema: searchReplaceSchema(editsApplied),
  fields: [
    {
      name: "old_string",
      description: "The replaced text; left out when it is very long.",
      type: "string",
      potentiallyLarge: true,
    },
    { name: "old_string_truncated", description: "True when `old_string` was left out.", type: "boolean" },
    { name: "new_string", description: "The new text, as sent.", type: "string", potentiallyLarge: true },
    { name: "tool_output_for_prompt", description: "What was done, with the changed lines.", type: "string" },
    {
      name: "tool_output_for_prompt_concise",
      description: "The same without the lines.",
      type: "string",
      defaultOnly: true,
    },
    { name: "absolute_path", description: "Real path of the file.", type: "string" },
    {
      name: "edits",
      description: "Each replacement with its lines.",
      type: "object",
      potentiallyLarge: true,
    },
    {
      name: "match_level",
      description: "How the text was found, when looking beyond exact matches is on.",
      type: "string",
    },
    { name: "receipt", description: "Hashes before and after, and the changed byte ranges.", type: "object" },
  ],
};
