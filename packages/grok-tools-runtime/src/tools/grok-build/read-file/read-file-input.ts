import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import type { ParamsDefinition } from "../../../tool-params.ts";

/** Input of the reading tools of this namespace. */
export interface ReadFileInput {
  readonly target_file: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly pages?: string | undefined;
  readonly format?: string | undefined;
}

export const readFileInput: z.ZodType<ReadFileInput> = z.object({
  target_file: z.string().describe("Path of the file, absolute or relative to the working directory."),
  offset: absentable(lenientInteger()).meta({
    description:
      "First line to read, counted from 1; negative counts from the end. Only for files too large to read at once.",
    default: 1,
  }),
  limit: absentable(lenientInteger({ min: 0 })).meta({
    description: "How many lines to read. Only for files too large to read at once.",
  }),
  pages: absentable(z.string()).meta({
    description: "Pages of a PDF document, for example `1-5` or `2,4,7-`. At most 20 pages in one call.",
  }),
  format: absentable(z.string()).meta({
    description: "How to return a PDF document: `image` (default) for pictures of the pages, or `text`.",
  }),
});

/** Configuration shared by the reading tools. */
export interface ReadFileParams {
  readonly cursor_rules_on_read: boolean;
}

export const readFileParams: ParamsDefinition<ReadFileParams> = {
  stateKey: "grok_build.ReadFile",
  schema: z.object({
    cursor_rules_on_read: z.boolean().default(false).describe("Append matching editor rules after the text."),
  }),
};

/** Whether editor rules are to be appended. The params of other tools that read do not know the wish. */
export function wantsCursorRules(params: unknown): boolean {
  return (
    typeof params === "object" && params !== null && Reflect.get(params, "cursor_rules_on_read") === true
  );
}
