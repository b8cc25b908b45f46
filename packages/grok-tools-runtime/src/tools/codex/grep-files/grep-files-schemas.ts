import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import type { ToolOutputDefinition } from "../../../tool.ts";

export interface GrepFilesInput {
  readonly pattern: string;
  readonly include: string | undefined;
  readonly path: string | undefined;
  readonly limit: number;
}

const DEFAULT_LIMIT = 100;

export const grepFilesInput: z.ZodType<GrepFilesInput> = z.object({
  pattern: z.string().describe("Regular expression to search for."),
  include: absentable(z.string()).describe("Glob that files must match, for example `*.rs` or `*.{ts,tsx}`."),
  path: absentable(z.string()).describe("File or folder to search. Default: the working directory."),
  limit: absentable(lenientInteger({ min: 0 }))
    .transform((value) => value ?? DEFAULT_LIMIT)
    .meta({ description: "Most paths to return, up to 2000.", default: DEFAULT_LIMIT }),
});

const type = z.literal("CodexGrepFiles");

/** The union value `CodexGrepFiles`. */
export const grepFilesOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({
      type,
      Matches: z.object({
        content: z.string(),
        file_count: z.int(),
        truncated: z.literal(true).optional(),
      }),
    }),
    ...["NoMatches", "Error"].map((variant) => z.object({ type, [variant]: z.string() })),
  ]),
  fields: [
    { name: "content", description: "Paths, one in a line.", type: "string", potentiallyLarge: true },
    { name: "file_count", description: "Number of paths.", type: "number" },
    { name: "truncated", description: "True when there are more.", type: "boolean" },
  ],
};
