import { z } from "zod";
import { lenientBoolean } from "../../../input/lenient.ts";

export interface EditInput {
  readonly filePath: string;
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
}

export const editInput: z.ZodType<EditInput> = z.object({
  filePath: z.string().describe("Path of the file, absolute or relative to the working directory."),
  oldString: z.string().describe("The exact text to replace. Empty creates the file."),
  newString: z.string().describe("The text to put there. Must differ from `${{ params.edit.oldString }}`."),
  replaceAll: lenientBoolean().default(false).describe("Replace every occurrence, not only a single one."),
});
