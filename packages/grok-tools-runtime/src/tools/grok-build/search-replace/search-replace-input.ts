import { z } from "zod";
import { lenientBoolean } from "../../../input/lenient.ts";
import type { ParamsDefinition } from "../../../tool-params.ts";

/** Input of the replacing tools of this namespace. */
export interface SearchReplaceInput {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

export const searchReplaceInput: z.ZodType<SearchReplaceInput> = z.object({
  file_path: z.string().describe("Path of the file, absolute or relative to the working directory."),
  old_string: z.string().describe("The exact text to replace. Empty creates the file."),
  new_string: z.string().describe("The text to put there. Must differ from `${{ params.edit.old_string }}`."),
  replace_all: lenientBoolean().default(false).describe("Replace every occurrence, not only a single one."),
});

/** Configuration shared by the replacing tools. */
export interface SearchReplaceParams {
  readonly skip_read_before_edit: boolean;
  readonly empty_old_string_does_not_override: boolean;
  readonly unicode_normalized_fallback: boolean;
  readonly include_user_edit_hint: boolean;
  readonly read_before_edit: "off" | "warn" | "enforce";
}

export const searchReplaceParams: ParamsDefinition<SearchReplaceParams> = {
  stateKey: "grok_build.SearchReplace",
  schema: z.object({
    skip_read_before_edit: z.boolean().default(false).describe("Allow a toolset without a reading tool."),
    empty_old_string_does_not_override: z
      .boolean()
      .default(true)
      .describe("An empty old string may only create a file or fill an empty one."),
    unicode_normalized_fallback: z
      .boolean()
      .default(false)
      .describe("Look again with typographic quotes, dashes and spaces flattened when nothing matches."),
    include_user_edit_hint: z
      .boolean()
      .default(true)
      .describe("Say in no-match texts that the file may have been changed meanwhile."),
    read_before_edit: z
      .enum(["off", "warn", "enforce"])
      .default("off")
      .describe("What to do about edits of files that were not read, or changed since."),
  }),
  // Upstream writes its own default of this key into saved states; only a request may lift the guard.
  explicitOnlyKeys: ["empty_old_string_does_not_override"],
};
