import { z } from "zod";

/** One replacement in the output of an editing tool. */
export const editDetailSchema: z.ZodType = z.object({
  old_string: z.string(),
  old_line: z.int(),
  new_string: z.string(),
  new_line: z.int(),
  context_before: z.string(),
  context_after: z.string(),
  line_prefix: z.string(),
});

/** The receipt of a written file. */
export const editReceiptSchema: z.ZodType = z.object({
  before_sha256: z.string().nullable(),
  after_sha256: z.string(),
  spans: z.array(z.tuple([z.int(), z.int(), z.int()])),
  line_ending: z.enum(["lf", "crlf", "mixed", "none"]),
  encoding: z.enum(["utf-8", "utf-16le", "utf-16be", "binary"]),
});

const variants = [
  "FileAlreadyExists",
  "MultipleMatchesFound",
  "InvalidInput",
  "FileNotFound",
  "FilenameTooLong",
];

/** The union value `SearchReplace`, for tools whose successes have different keys. */
export function searchReplaceSchema(editsApplied: z.ZodType): z.ZodType {
  const type = z.literal("SearchReplace");
  return z.union([
    z.object({ type, EditsApplied: editsApplied }),
    z.object({ type, NoMatchesFound: z.object({ message: z.string(), file_path: z.string() }) }),
    ...variants.map((variant) => z.object({ type, [variant]: z.string() })),
  ]);
}
