import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";

export const DEFAULT_LIMIT = 2000;

export interface ReadInput {
  readonly filePath: string;
  /** From 1; 0 is refused by the tool. */
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

export const readInput: z.ZodType<ReadInput> = z.object({
  filePath: z.string().describe("Path of the file or folder, absolute or relative to the working directory."),
  offset: absentable(lenientInteger({ min: 0 })).meta({
    description: "First line or entry to show, counted from 1.",
    default: 1,
  }),
  limit: absentable(lenientInteger({ min: 0 })).meta({
    description: "How many lines or entries to show.",
    default: DEFAULT_LIMIT,
  }),
});
