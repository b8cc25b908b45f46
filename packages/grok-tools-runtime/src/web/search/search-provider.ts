import type { SessionScope } from "../../session-resource.ts";
import type { SearchHit, ToolSettings } from "../../tool-settings.ts";

/** Port for whoever searches the web. */
export interface SearchProvider {
  /**
   * @throws {@link ToolError} for an answer that is none, errors of the connection, and the reason of the signal.
   */
  search(query: string, options: SearchOptions): Promise<SearchAnswer>;
}

/** What to search for and where. The caller filters the hits once more. */
export interface SearchOptions {
  /** Only these domains and those below. Empty: all. */
  readonly allow: readonly string[];
  /** Not these. */
  readonly exclude: readonly string[];
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** What was found. */
export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** A text about the hits, when the provider wrote one. */
  readonly text?: string | undefined;
}

/** What providers need of whoever searches. */
export interface SearchScope
  extends Pick<SessionScope, "environment" | "secretVariables" | "programRunner" | "sessionFolder"> {
  readonly settings: Pick<ToolSettings, "environment">;
}
