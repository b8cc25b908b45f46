import { z } from "zod";
import type { ParamsDefinition } from "../../../tool-params.ts";

/** Configuration of the tool. Keys as in the contract's state. */
export interface UseToolParams {
  readonly native_tool_correction: boolean;
}

export const useToolParams: ParamsDefinition<UseToolParams> = {
  stateKey: "grok_build.UseTool",
  strict: false,
  schema: z.object({
    native_tool_correction: z
      .boolean()
      .default(true)
      .describe("Tell the model to call a tool of this toolset directly when it names one here."),
  }),
};
