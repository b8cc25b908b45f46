import { z } from "zod";
import type { ToolOutputDefinition } from "../../tool.ts";

const detail = z.object({
  old_string: z.string(),
  old_line: z.int(),
  new_string: z.string(),
  new_line: z.int(),
  context_before: z.string(),
  context_after: z.string(),
  line_prefix: z.string(),
});

const receipt = z.object({
  before_sha256: z.string().nullable(),
  after_sha256: z.string(),
  spans: z.array(z.tuple([z.int(), z.int(), z.int()])),
  line_ending: z.enum(["lf", "crlf", "mixed", "none"]),
  encoding: z.string(),
});

const editsApplied = z.object({
  old_string: z.string().optional(),
  old_string_truncated: z.literal(true).optional(),
  new_string: z.string(),
  tool_output_for_prompt: z.string(),
  tool_output_for_prompt_concise: z.string().optional(),
  absolute_path: z.string(),
  edits: z.object({ details: z.array(detail), details_omitted: z.int().optional() }),
  match_level: z.string().optional(),
  receipt,
});

const type = z.literal("SearchReplace");
const failures = [
  "FileAlreadyExists",
  "MultipleMatchesFound",
  "InvalidInput",
  "FileNotFound",
  "FilenameTooLong",
];

/** The union value `SearchReplace` of the tools of this namespace. */
export const editedOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({ type, EditsApplied: editsApplied }),
    z.object({ type, NoMatchesFound: z.object({ message: z.string(), file_path: z.string() }) }),
    ...failures.map((variant) => z.object({ type, [variant]: z.string() })),
  ]),
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
