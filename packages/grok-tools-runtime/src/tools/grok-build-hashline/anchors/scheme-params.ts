import { z } from "zod";
import type { ParamsDefinition } from "../../../tool-params.ts";

/** How anchors are made, the same for the three tools. */
export interface SchemeParams {
  /** `chunk`: an anchor also names the group of lines it stands in. `content_only`: only the line. */
  readonly scheme: string;
  /** Letters of a hash. */
  readonly hash_len: number;
  /** Lines of a group. */
  readonly chunk_size: number;
}

export const schemeParams: ParamsDefinition<SchemeParams> = {
  stateKey: "hashline_scheme_params",
  schema: z.object({
    scheme: z
      .string()
      .default("chunk")
      .describe("chunk: anchors name the group of lines too. content_only: only the line."),
    hash_len: z.int().default(3).describe("Letters of a hash, 1 to 4."),
    chunk_size: z.int().default(8).describe("Lines of a group."),
  }),
  check({ scheme, hash_len, chunk_size }) {
    return [
      ...(scheme === "chunk" || scheme === "content_only"
        ? []
        : [{ key: "scheme", expected: '"chunk" or "content_only"', message: "there is no such scheme" }]),
      ...(hash_len >= 1 && hash_len <= 4
        ? []
        : [{ key: "hash_len", expected: "1..=4", message: "a hash has one to four letters" }]),
      ...(scheme !== "chunk" || chunk_size > 0
        ? []
        : [
            {
              key: "chunk_size",
              expected: '> 0 when scheme is "chunk"',
              message: "a group has at least one line",
            },
          ]),
    ];
  },
};
