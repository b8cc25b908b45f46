import { z } from "zod";

/** `tool_settings.WebSearch`, ready for use. Who searches is the server's business. */
export interface WebSearchSettings {
  /** Undefined: what suits the provider. */
  readonly timeoutMs: number | undefined;
  /** Results of a call that does not say how many it wants, 1 to 10. */
  readonly maxResults: number;
}

export const MAX_WEB_RESULTS = 10;
const DEFAULT_RESULTS = 5;
const MAX_TIMEOUT_SECONDS = 120;

const file = z.object({
  timeout_seconds: z.number().positive().max(MAX_TIMEOUT_SECONDS).optional().catch(undefined),
  max_results: z.int().min(1).max(MAX_WEB_RESULTS).catch(DEFAULT_RESULTS),
});

export const webSearchSettings: z.ZodType<WebSearchSettings> = z
  .preprocess((value) => (typeof value === "object" && value !== null ? value : {}), file)
  .transform(({ timeout_seconds, max_results }) => ({
    timeoutMs: timeout_seconds === undefined ? undefined : timeout_seconds * 1000,
    maxResults: max_results,
  }));
