import { z } from "zod";
import type { ToolOutputDefinition } from "../../../tool.ts";
import { editDetailSchema, editReceiptSchema, searchReplaceSchema } from "../../edit-output-schemas.ts";

const editsApplied = z.object({
  old_string: z.string(),
  new_string: z.string(),
  tool_output_for_prompt: z.string(),
  tool_output_for_prompt_concise: z.string().optional(),
  absolute_path: z.string(),
  edits: z.object({ details: z.array(editDetailSchema), details_omitted: z.int().optional() }),
  texts_omitted: z.literal(true).optional(),
  unicode_normalized: z.literal(true).optional(),
  receipt: editReceiptSchema,
});

/** The union value `SearchReplace`. */
export const searchReplaceOutput: ToolOutputDefinition = {
  schema: searchReplaceSchema(editsApplied),
  fields: [
    {
      name: "old_string",
      description: "The text to replace, as sent.",
      type: "string",
      potentiallyLarge: true,
    },
    { name: "new_string", description: "The new text, as sent.", type: "string", potentiallyLarge: true },
    { name: "tool_output_for_prompt", description: "What was done.", type: "string" },
    {
      name: "tool_output_for_prompt_concise",
      description: "The same, shorter.",
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
      name: "unicode_normalized",
      description: "True when typographic characters were flattened.",
      type: "boolean",
    },
    { name: "receipt", description: "Hashes before and after, and the changed byte ranges.", type: "object" },
  ],
};
