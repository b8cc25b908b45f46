import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import type { ToolOutputDefinition } from "../../../tool.ts";
import type { ParamsDefinition } from "../../../tool-params.ts";

export interface ListDirInput {
  readonly dir_path: string;
  readonly offset: number;
  readonly limit: number;
  readonly depth: number;
}

/** Zero is a failure of the listing, with a text of its own; less is no count at all. */
function count(usual: number, description: string): z.ZodType<number> {
  return absentable(lenientInteger({ min: 0 }))
    .transform((value) => value ?? usual)
    .meta({ description, default: usual });
}

export const listDirInput: z.ZodType<ListDirInput> = z.object({
  dir_path: z.string().describe("Absolute path of the folder."),
  offset: count(1, "First entry to show, from 1."),
  limit: count(25, "Most entries to show."),
  depth: count(2, "Levels of folders to list."),
});

export interface ListDirParams {
  readonly sort: "path" | "tree";
}

export const listDirParams: ParamsDefinition<ListDirParams> = {
  stateKey: "trivium.CodexListDir",
  schema: z.object({
    sort: z
      .enum(["path", "tree"])
      .default("path")
      .describe("`path`: by the bytes of the path. `tree`: each folder right before its entries."),
  }),
};

const type = z.literal("ListDir");

/** The union value `ListDir`, as far as this tool answers with it. */
export const listDirOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({ type, Content: z.object({ content: z.string(), absolute_root_path: z.string() }) }),
    z.object({ type, Error: z.string() }),
  ]),
  fields: [
    { name: "content", description: "The listing.", type: "string", potentiallyLarge: true },
    { name: "absolute_root_path", description: "Absolute path of the folder.", type: "string" },
  ],
};
