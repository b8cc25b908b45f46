import { abortReason, type Clock, linkSignals, sleep } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { ToolError } from "../../tool-error.ts";
import type { SearchHit, WebSearchSettings } from "../../tool-settings.ts";
import { isBelowDomain } from "../domain-policy.ts";
import { createSearchProvider } from "./create-search-provider.ts";
import type { SearchAnswer, SearchOptions, SearchScope } from "./search-provider.ts";

const RETRY_DELAY_MS = 500;

/** What to search for, where and for how long. */
export interface WebSearchRequest {
  readonly query: string;
  /** Domains the caller wants; the lists of the settings replace them. Empty or absent: all. */
  readonly wantedDomains?: readonly string[];
  /** Most hits. */
  readonly limit: number;
  /** For everything, the second try included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What was found. */
export interface WebSearchAnswer extends SearchAnswer {
  /** The domains that the search was narrowed to. Empty: none. */
  readonly allow: readonly string[];
}

/**
 * Asks the configured provider, once more after HTTP 429 and 5xx, and filters what it found.
 *
 * @throws {@link ToolError} TIMEOUT after `timeoutMs`, what {@link SearchProvider.search} throws, and the reason of
 * the signal.
 */
export async function searchWeb(
  request: WebSearchRequest,
  settings: WebSearchSettings,
  scope: SearchScope & { readonly clock: Clock },
): Promise<WebSearchAnswer> {
  const { query, limit, timeoutMs } = request;
  const domains = domainsOf(settings, request.wantedDomains ?? []);
  const provider = createSearchProvider(settings, scope);
  using limited = linkSignals([request.signal], { timeoutMs, clock: scope.clock });
  const { signal } = limited;
  const options: SearchOptions = { ...domains, limit, signal };
  try {
    const { hits, text } = await provider.search(query, options).catch(async (thrown: unknown) => {
      if (!isWorthRetrying(thrown)) throw thrown;
      await sleep(scope.clock, RETRY_DELAY_MS, signal);
      return await provider.search(query, options);
    });
    return { hits: hits.filter(isWanted(domains)).slice(0, limit), text, allow: domains.allow };
  } catch (thrown) {
    if (request.signal.aborted) throw abortReason(request.signal);
    if (!signal.aborted) throw thrown;
    throw new ToolError(ErrorCode.TIMEOUT, `no search results within ${timeoutMs / 1000} s`, {
      cause: thrown,
    });
  }
}

interface Domains {
  readonly allow: readonly string[];
  readonly exclude: readonly string[];
}

/** The server's lists replace the model's; the allowed ones win. */
function domainsOf(
  { allowedDomains, excludedDomains }: WebSearchSettings,
  wanted: readonly string[],
): Domains {
  if (allowedDomains !== undefined) return { allow: allowedDomains, exclude: [] };
  if (excludedDomains !== undefined) return { allow: [], exclude: excludedDomains };
  return { allow: wanted, exclude: [] };
}

/** Too many requests, and faults of the provider's server. */
function isWorthRetrying(thrown: unknown): boolean {
  if (!ToolError.isInstance(thrown)) return false;
  const { status } = thrown.details;
  return status === 429 || (typeof status === "number" && status >= 500);
}

function isWanted({ allow, exclude }: Domains): (hit: SearchHit) => boolean {
  return ({ url }) => {
    const parsed = URL.parse(url);
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false;
    if (allow.length > 0) return isBelowDomain(parsed.hostname, allow);
    return !isBelowDomain(parsed.hostname, exclude);
  };
}
