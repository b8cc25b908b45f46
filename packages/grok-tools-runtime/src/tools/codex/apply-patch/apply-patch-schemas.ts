import { z } from "zod";
import type { ToolOutputDefinition } from "../../../tool.ts";
import type { ParamsDefinition } from "../../../tool-params.ts";
import { editReceiptSchema } from "../../edit-output-schemas.ts";

export interface ApplyPatchInput {
  readonly patch?: string | undefined;
  /** Older name of `patch`; not advertised. */
  readonly input?: string | undefined;
}

export const applyPatchInput: z.ZodType<ApplyPatchInput> = z.object({
  patch: z.string().optional().describe("The patch, from `*** Begin Patch` to `*** End Patch`."),
  input: z.string().optional(),
});

export interface ApplyPatchParams {
  readonly allow_overwrite: boolean;
}

export const applyPatchParams: ParamsDefinition<ApplyPatchParams> = {
  stateKey: "trivium.ApplyPatch",
  schema: z.object({
    allow_overwrite: z
      .boolean()
      .default(true)
      .describe("Whether adding a file may replace one that exists. Default true."),
  }),
};

const type = z.literal("ApplyPatch");

const file = z.object({
  path: z.string(),
  action: z.enum(["added", "modified", "deleted", "moved"]),
  old_text: z.string().optional(),
  new_text: z.string(),
  move_to: z.string().optional(),
  fuzz: z.int().optional(),
  ambiguous: z.literal(true).optional(),
  texts_omitted: z.literal(true).optional(),
  receipt: editReceiptSchema.optional(),
});

/** The union value `ApplyPatch`. */
export const applyPatchOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({ type, Success: z.object({ files: z.array(file), tool_output_for_prompt: z.string() }) }),
    ...["ParseError", "ApplicationError", "EmptyPatch"].map((variant) =>
      z.object({ type, [variant]: z.string() }),
    ),
  ]),
  fields: [
    {
      name: "files",
      description: "Each file operation with the old and the new text.",
      type: "array",
      potentiallyLarge: true,
    },
    { name: "tool_output_for_prompt", description: "What was done, one line per file.", type: "string" },
  ],
};
