import { z } from "zod";
import type { ToolOutputDefinition } from "../../../tool.ts";
import type { ParamsDefinition } from "../../../tool-params.ts";

export interface ListDirInput {
  readonly target_directory: string;
}

export const listDirInput: z.ZodType<ListDirInput> = z.object({
  target_directory: z
    .string()
    .describe("Folder to list, absolute or relative to the working directory; `.` is the working directory."),
});

export interface ListDirParams {
  readonly max_output_chars: number | null;
}

export const listDirParams: ParamsDefinition<ListDirParams> = {
  stateKey: "grok_build.ListDir",
  schema: z.object({
    max_output_chars: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe("Characters of the listing. Default 10000."),
  }),
};

const type = z.literal("ListDir");
const failures = ["NotFound", "IsAFile", "NotADirectory", "PermissionDenied", "Error"];

/** The union value `ListDir`. */
export const listDirOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({ type, Content: z.object({ content: z.string(), absolute_root_path: z.string() }) }),
    ...failures.map((variant) => z.object({ type, [variant]: z.string() })),
  ]),
  fields: [
    { name: "content", description: "The listing.", type: "string", potentiallyLarge: true },
    { name: "absolute_root_path", description: "Absolute path of the folder.", type: "string" },
  ],
};
