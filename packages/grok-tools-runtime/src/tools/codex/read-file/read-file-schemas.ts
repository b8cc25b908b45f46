import { z } from "zod";
import { absentable, lenientBoolean, lenientInteger } from "../../../input/lenient.ts";
import type { ToolOutputDefinition } from "../../../tool.ts";

export interface ReadFileInput {
  readonly file_path: string;
  readonly offset: number | undefined;
  readonly limit: number | undefined;
  readonly mode: "slice" | "indentation";
  readonly indentation: IndentationInput | undefined;
}

export interface IndentationInput {
  readonly anchor_line: number | undefined;
  readonly max_levels: number;
  readonly include_siblings: boolean;
  readonly include_header: boolean;
  readonly max_lines: number | undefined;
}

/** Zero is a failure of the read, with a text of its own; less is no count at all. */
const count = (): ReturnType<typeof lenientInteger> => lenientInteger({ min: 0 });

const indentation = z.object({
  anchor_line: absentable(count()).describe("Line to start from. Default: the offset."),
  max_levels: absentable(count())
    .transform((levels) => levels ?? 0)
    .meta({
      description: "Levels of indentation above the anchor that are shown. 0: all of them.",
      default: 0,
    }),
  include_siblings: lenientBoolean()
    .default(false)
    .describe("Also show further blocks at the outermost level shown."),
  include_header: lenientBoolean()
    .default(true)
    .describe("Also show comments right above the outermost block."),
  max_lines: absentable(count()).describe("Most lines to show. Default: the limit."),
});

export const DEFAULT_LIMIT = 2000;

export const readFileInput: z.ZodType<ReadFileInput> = z.object({
  file_path: z.string().describe("Absolute path of the file."),
  offset: absentable(count()).meta({ description: "First line, from 1.", default: 1 }),
  limit: absentable(count()).meta({ description: "Most lines to show.", default: DEFAULT_LIMIT }),
  mode: absentable(z.enum(["slice", "indentation"]))
    .transform((mode) => mode ?? "slice")
    .meta({
      description: "`slice`: lines one after the other. `indentation`: the block around a line.",
      default: "slice",
    }),
  indentation: absentable(indentation).describe("For the mode `indentation`."),
});

const type = z.literal("ReadFile");

const fileContent = z.object({
  content: z.string(),
  absolute_path: z.string(),
  offset: z.int(),
  limit: z.int(),
  raw_output: z.string(),
  total_lines: z.int(),
  total_lines_estimated: z.literal(true).optional(),
  truncated_lines: z.int().optional(),
  encoding: z.enum(["utf-16le", "utf-16be"]).optional(),
  had_bom: z.literal(true).optional(),
});

/** The union value `ReadFile`, as far as this tool answers with it. */
export const readFileOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({ type, FileContent: fileContent }),
    z.object({ type, FileReadError: z.string() }),
  ]),
  fields: [
    { name: "content", description: "Lines with their numbers.", type: "string", potentiallyLarge: true },
    { name: "absolute_path", description: "Path of the file.", type: "string" },
    { name: "offset", description: "First line asked for.", type: "number" },
    { name: "limit", description: "Number of lines asked for.", type: "number" },
    {
      name: "raw_output",
      description: "The same lines, whole and without numbers.",
      type: "string",
      potentiallyLarge: true,
    },
    { name: "total_lines", description: "Lines of the file.", type: "number" },
    {
      name: "total_lines_estimated",
      description: "True when `total_lines` is an estimate.",
      type: "boolean",
    },
    { name: "truncated_lines", description: "Lines that were cut, when there are any.", type: "number" },
    { name: "encoding", description: "Encoding, when it is not UTF-8.", type: "string" },
    { name: "had_bom", description: "True when the file starts with a byte order mark.", type: "boolean" },
  ],
};
