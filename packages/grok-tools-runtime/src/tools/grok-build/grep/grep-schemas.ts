import { z } from "zod";
import { absentable, lenientBoolean, lenientInteger } from "../../../input/lenient.ts";
import type { ToolOutputDefinition } from "../../../tool.ts";
import type { ParamsDefinition } from "../../../tool-params.ts";

export type GrepOutputMode = "content" | "files_with_matches" | "count";

export interface GrepInput {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly type?: string | undefined;
  readonly output_mode: GrepOutputMode;
  readonly "-A"?: number | undefined;
  readonly "-B"?: number | undefined;
  readonly "-C"?: number | undefined;
  readonly "-i": boolean;
  readonly multiline: boolean;
  readonly head_limit?: number | undefined;
  readonly match_limit?: number | undefined;
}

const lineCount = (description: string): z.ZodType<number | undefined> =>
  absentable(lenientInteger({ min: 0 })).describe(description);

export const grepInput: z.ZodType<GrepInput> = z.object({
  pattern: z.string().describe("Regular expression in the syntax of ripgrep."),
  path: absentable(z.string()).describe("File or folder to search. Default: the working directory."),
  glob: absentable(z.string()).describe(
    "Only files whose path matches this glob, for example `*.{ts,tsx}`. With a slash it is relative to the searched folder.",
  ),
  type: absentable(z.string()).describe(
    "Only files of this type of ripgrep, for example `js`, `py`, `rust`.",
  ),
  output_mode: z
    .enum(["content", "files_with_matches", "count"])
    .nullish()
    .transform((mode) => mode ?? "content")
    .describe("Show matching lines, only paths, or the number of matching lines of each file."),
  "-A": lineCount("Lines to show after each match."),
  "-B": lineCount("Lines to show before each match."),
  "-C": lineCount("Lines to show before and after each match."),
  "-i": lenientBoolean().default(false).describe("Ignore the case of letters."),
  multiline: lenientBoolean().default(false).describe("Let `.` match line ends and matches span lines."),
  head_limit: lineCount(
    "Lines of output to show, with headings, separators and context. Default 200; 500 when only paths are shown.",
  ),
  match_limit: lineCount("Matching lines to show."),
});

export interface GrepParams {
  readonly max_output_bytes: number | null;
  readonly max_chars_per_line: number | null;
  readonly relative_paths: boolean;
  readonly sort: "path";
}

export const grepParams: ParamsDefinition<GrepParams> = {
  stateKey: "grok_build.Grep",
  schema: z.object({
    max_output_bytes: z.int().min(1).nullable().default(null).describe("Bytes of output. Default 40000."),
    max_chars_per_line: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe("Characters of a line. Default 1000."),
    relative_paths: z.boolean().default(false).describe("Print paths relative to the working directory."),
    sort: z.literal("path").default("path").describe("Order of the files."),
  }),
};

const byteArray = z.array(z.int().min(0).max(255));

/** The union value `GrepSearch`. */
export const grepOutput: ToolOutputDefinition = {
  schema: z.object({
    type: z.literal("GrepSearch"),
    stdout: byteArray,
    stderr: byteArray,
    exit_code: z.int(),
    match_count: z.int(),
    file_matches: z.array(
      z.object({
        path: z.string(),
        matches: z.array(z.object({ line_number: z.int(), content: z.string() })),
      }),
    ),
  }),
  fields: [
    {
      name: "stdout",
      description: "The text shown.",
      type: "array",
      potentiallyLarge: true,
      defaultOnly: true,
    },
    { name: "stderr", description: "What ripgrep complained about.", type: "array", defaultOnly: true },
    { name: "exit_code", description: "0 matches, 1 none, 2 error, -1 no result.", type: "number" },
    { name: "match_count", description: "Matching lines, or files.", type: "number" },
    { name: "file_matches", description: "Matching lines by file.", type: "array", potentiallyLarge: true },
  ],
};
