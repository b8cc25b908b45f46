import { z } from "zod";
import { type WebSearchSettings, webSearchSettings } from "./web-search-settings.ts";

/** The `tool_settings` object of the settings, ready for use. */
export interface ToolSettings {
  readonly webSearch: WebSearchSettings;
}

/** By the names of the tools; those of other tools are ignored. */
export const toolSettings: z.ZodType<ToolSettings> = z
  .preprocess(
    (value) => (typeof value === "object" && value !== null ? value : {}),
    z.object({ WebSearch: webSearchSettings }),
  )
  .transform(({ WebSearch }) => ({ webSearch: WebSearch }));
