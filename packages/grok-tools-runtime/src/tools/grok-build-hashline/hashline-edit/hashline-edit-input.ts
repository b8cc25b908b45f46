import { z } from "zod";
import { isJsonObject } from "../../../json.ts";

export type HashlineOperation =
  | {
      readonly op: "replace";
      readonly anchor: string;
      readonly end_anchor?: string | undefined;
      readonly content: string;
    }
  | { readonly op: "insert_after"; readonly anchor: string; readonly content: string }
  | { readonly op: "write"; readonly content: string };

export interface HashlineEditInput {
  readonly file_path: string;
  readonly edits: readonly HashlineOperation[];
}

const content = z.string();
const operation = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("replace"),
    anchor: z.string().describe("First line to replace."),
    end_anchor: z
      .string()
      .nullish()
      .transform((anchor) => anchor ?? undefined)
      .describe("Last line to replace. Default: the first."),
    content: content.describe("New lines. Empty: the lines are removed."),
  }),
  z.object({
    op: z.literal("insert_after"),
    anchor: z.string().describe("Line to insert after; `0:` is the beginning of the file, `EOF` its end."),
    content: content.describe("New lines. Empty: one blank line."),
  }),
  z.object({ op: z.literal("write"), content: content.describe("The whole new file.") }),
]);

export const hashlineEditInput: z.ZodType<HashlineEditInput> = z.object({
  file_path: z.string().describe("Path of the file, absolute or relative to the working directory."),
  edits: z
    .preprocess(toOperations, z.array(operation).max(500))
    .describe(
      "What to change, at most 500 operations. All anchors refer to the file as it is before the first of them.",
    ),
});

/** Also takes one operation alone, and JSON text of either. */
function toOperations(value: unknown): unknown {
  const parsed = typeof value === "string" ? parseJson(value) : value;
  return isJsonObject(parsed) ? [parsed] : parsed;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The schema says what it should have been.
    return text;
  }
}
