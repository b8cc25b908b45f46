import { z } from "zod";
import type { Fuzziness } from "../../files/edit-engine/fuzzy-matches.ts";
import type { ParamsDefinition } from "../../tool-params.ts";

/** Configuration shared by the tools of this namespace that write files. */
export interface OpenCodeEditParams {
  readonly fuzzy: Fuzziness;
  readonly require_read: boolean;
}

export const openCodeEditParams: ParamsDefinition<OpenCodeEditParams> = {
  stateKey: "trivium.OpenCodeEdit",
  schema: z.object({
    fuzzy: z
      .enum(["off", "safe", "full"])
      .default("off")
      .describe(
        "Where to look when a text does not occur exactly: nowhere, where only indents and outer blanks differ, or where a text is alike.",
      ),
    require_read: z
      .boolean()
      .default(false)
      .describe("Refuse changes of files that were not read, or have changed since."),
  }),
};
