import type { SearchHit, WebSearchSettings } from "../../tool-settings.ts";
import { callApi, endpoint, property } from "../call-api.ts";
import { readProviderKey } from "../provider-key.ts";
import type { SearchProvider, SearchScope } from "./search-provider.ts";

type SettingsOf<Name> = Extract<WebSearchSettings, { provider: Name }>;

const PROVIDER = "the search provider";

/** A SearXNG server with its JSON format switched on. */
export function searxngProvider(settings: SettingsOf<"searxng">, scope: SearchScope): SearchProvider {
  return {
    async search(query, { allow, exclude, signal }) {
      const key = await readProviderKey(settings, scope.environment);
      const url = endpoint(settings.baseUrl, "search");
      url.searchParams.set("q", withSites(query, allow, exclude));
      url.searchParams.set("format", "json");
      const answer = await callApi({ provider: PROVIDER, url, key, signal });
      return { hits: hitsOf(property(answer, "results"), "content") };
    },
  };
}

/** Brave's search API. */
export function braveProvider(settings: SettingsOf<"brave">, scope: SearchScope): SearchProvider {
  return {
    async search(query, { allow, exclude, limit, signal }) {
      const key = await readProviderKey(settings, scope.environment);
      const url = endpoint(settings.baseUrl ?? "https://api.search.brave.com/res/v1", "web/search");
      url.searchParams.set("q", withSites(query, allow, exclude));
      url.searchParams.set("count", String(limit));
      const answer = await callApi({
        provider: PROVIDER,
        url,
        key,
        keyHeader: "x-subscription-token",
        signal,
      });
      return { hits: hitsOf(property(property(answer, "web"), "results"), "description") };
    },
  };
}

/** A model that searches, behind an API in the style of OpenAI's Responses. */
export function responsesProvider(settings: SettingsOf<"responses">, scope: SearchScope): SearchProvider {
  return {
    async search(query, { allow, exclude, signal }) {
      const key = await readProviderKey(settings, scope.environment);
      // The API takes one of the two lists.
      const filters =
        allow.length > 0
          ? { allowed_domains: allow }
          : exclude.length > 0
            ? { excluded_domains: exclude }
            : undefined;
      const answer = await callApi({
        provider: PROVIDER,
        url: endpoint(settings.baseUrl, "responses"),
        key,
        body: {
          model: settings.model,
          input: query,
          tools: [{ type: "web_search", ...(filters !== undefined && { filters }) }],
          store: false,
          temperature: 0.1,
          top_p: 0.95,
          max_output_tokens: 8192,
        },
        signal,
      });
      const parts = list(property(answer, "output")).flatMap((item) => list(property(item, "content")));
      const text = parts.map((part) => textOf(property(part, "text"))).join("");
      const citations = parts.flatMap((part) => list(property(part, "annotations")));
      return { hits: hitsOf(citations, "snippet"), text };
    },
  };
}

/** Search engines understand these words; what they let through is filtered again. */
function withSites(query: string, allow: readonly string[], exclude: readonly string[]): string {
  const wanted = allow.map((domain) => `site:${domain}`).join(" OR ");
  const unwanted = exclude.map((domain) => `-site:${domain}`);
  return [query, wanted, ...(allow.length > 0 ? [] : unwanted)].filter((part) => part !== "").join(" ");
}

/** Results that have an address; what they lack else is empty. */
export function hitsOf(results: unknown, snippetKey: string): SearchHit[] {
  return list(results).flatMap((result) => {
    const url = property(result, "url");
    if (typeof url !== "string") return [];
    return [{ title: textOf(property(result, "title")), url, snippet: textOf(property(result, snippetKey)) }];
  });
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
