import type { WebSearchSettings } from "../../tool-settings.ts";
import { commandProvider } from "./command-provider.ts";
import { braveProvider, responsesProvider, searxngProvider } from "./http-providers.ts";
import type { SearchProvider, SearchScope } from "./search-provider.ts";

/** The configured provider. */
export function createSearchProvider(settings: WebSearchSettings, scope: SearchScope): SearchProvider {
  switch (settings.provider) {
    case "searxng":
      return searxngProvider(settings, scope);
    case "brave":
      return braveProvider(settings, scope);
    case "responses":
      return responsesProvider(settings, scope);
    case "command":
      return commandProvider(settings.argv, scope);
    case "fixture":
      return { search: () => Promise.resolve({ hits: settings.results }) };
  }
}
