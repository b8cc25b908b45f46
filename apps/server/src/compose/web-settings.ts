import type { ToolSettings } from "@trivium/grok-tools-runtime";
import type { ConfigValues } from "../config/config-keys.ts";

/** Settings of the tools that reach the internet. */
export function toWebSettings(values: ConfigValues): Pick<ToolSettings, "webFetch" | "webSearch" | "media"> {
  return {
    webFetch: {
      enabled: values["tools.webFetch.enabled"],
      allowedDomains: values["tools.webFetch.allowedDomains"],
      allowLocal: values["tools.webFetch.allowLocal"],
      proxyEndpoint: values["tools.webFetch.proxyEndpoint"],
      timeoutSecs: values["tools.webFetch.timeoutSecs"],
      cacheTtlSecs: values["tools.webFetch.cacheTtlSecs"],
      maxCacheEntries: values["tools.webFetch.maxCacheEntries"],
      maxContentLength: values["tools.webFetch.maxContentLength"],
      maxMarkdownLength: values["tools.webFetch.maxMarkdownLength"],
      contextWindowTokens: values["tools.webFetch.contextWindowTokens"],
    },
    webSearch: values["tools.webSearch"],
    media: { images: values["tools.media.images"], videos: values["tools.media.videos"] },
  };
}

/** Variables that hold keys of search and media providers, whatever they are called. Commands never get them. */
export function webKeyVariables(
  values: Pick<ConfigValues, "tools.webSearch" | "tools.media.images" | "tools.media.videos">,
): string[] {
  const search = values["tools.webSearch"];
  const sources = [
    search !== undefined && "apiKeyEnv" in search ? search : undefined,
    values["tools.media.images"],
    values["tools.media.videos"],
  ];
  return sources.map((source) => source?.apiKeyEnv).filter((name) => name !== undefined);
}
