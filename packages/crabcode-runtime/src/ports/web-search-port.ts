import type { ToolboxResult } from "./toolbox-port.ts";

/** One page that a search found. */
export interface WebHit {
  /** May be empty. */
  readonly title: string;
  readonly url: string;
  /** What the page says about the query; may be empty. */
  readonly snippet: string;
}

/** Port for searches on the web, one for all sessions. */
export interface WebSearchPort {
  /** The best first, at most `limit`. Throws the reason of the signal, and faults of the adapter. */
  search(request: {
    readonly query: string;
    readonly limit: number;
    /** For the whole search. Absent: what suits the provider. */
    readonly timeoutMs?: number | undefined;
    readonly signal: AbortSignal;
  }): Promise<ToolboxResult<{ readonly hits: readonly WebHit[] }>>;
}
