import { z } from "zod";
import type { ParamsDefinition } from "../../../tool-params.ts";

/** Configuration of the tool. */
export interface LspParams {
  /** Number of the first line and of the first character in the input. */
  readonly positions: 0 | 1;
}

export const lspParams: ParamsDefinition<LspParams> = {
  stateKey: "trivium.Lsp",
  schema: z.object({
    positions: z
      .union([z.literal(0), z.literal(1)])
      .default(0)
      .describe("Number of the first line and of the first character in the input. Answers count from 1."),
  }),
};
