import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { ParamsDefinition } from "../tool-params.ts";
import type { WebFetchSettings } from "../tool-settings.ts";
import { documentationSites } from "./documentation-sites.ts";

/** Configuration of `GrokBuild:web_fetch`. */
export interface WebFetchParams {
  readonly cache_ttl_secs: number;
  readonly max_cache_entries: number;
  readonly timeout_secs: number;
  readonly max_content_length: number;
  readonly max_markdown_length: number;
  readonly context_window_tokens: number;
  readonly allowed_domains: string[];
  readonly proxy_endpoint: string | null;
  readonly allow_local: boolean;
}

const MiB = 1024 ** 2;

export const webFetchParams: ParamsDefinition<WebFetchParams> = {
  stateKey: "grok_build.WebFetch",
  schema: z.object({
    cache_ttl_secs: z.int().min(0).default(900).describe("Seconds a page is served from memory."),
    max_cache_entries: z.int().min(0).max(10_000).default(128).describe("Pages kept in memory."),
    timeout_secs: z.int().min(1).max(3600).default(60).describe("Seconds for a page, redirects included."),
    max_content_length: z
      .int()
      .min(1)
      .max(256 * MiB)
      .default(10 * MiB)
      .describe("Largest page, in bytes, as it travels and inflated."),
    max_markdown_length: z
      .int()
      .min(1)
      .max(16 * MiB)
      .default(100_000)
      .describe("Bytes of `content`."),
    context_window_tokens: z
      .int()
      .min(1)
      .default(128_000)
      .describe("Context of the model; 3 % of it, in characters, are shown of a page."),
    allowed_domains: z
      .array(z.string())
      .default([...documentationSites])
      .describe("Hosts, or hosts with a path, that may be fetched; `*` for all, empty for none."),
    proxy_endpoint: z.string().refine(isProxy, "an http: or https: URL").nullable().default(null),
    allow_local: z.boolean().default(false).describe("Lets localhost, 127.0.0.0/8 and ::1 be fetched."),
  }),
  withoutSecrets: (params) => ({
    ...params,
    proxy_endpoint: params.proxy_endpoint === null ? null : withoutUserinfo(params.proxy_endpoint),
  }),
};

/** What applies to a session: its own params, and those of the server where they are left at their defaults. */
export function effectiveWebFetchParams(params: WebFetchParams, settings: WebFetchSettings): WebFetchParams {
  const defaults = webFetchParams.schema.parse({});
  const given = Object.entries(params).filter(
    ([key, value]) => !isDeepStrictEqual(value, Reflect.get(defaults, key)),
  );
  const configured = {
    cache_ttl_secs: settings.cacheTtlSecs,
    max_cache_entries: settings.maxCacheEntries,
    timeout_secs: settings.timeoutSecs,
    max_content_length: settings.maxContentLength,
    max_markdown_length: settings.maxMarkdownLength,
    context_window_tokens: settings.contextWindowTokens,
    allowed_domains: settings.allowedDomains === undefined ? undefined : [...settings.allowedDomains],
    proxy_endpoint: settings.proxyEndpoint,
    allow_local: settings.allowLocal,
  };
  const set = Object.entries(configured).filter(([, value]) => value !== undefined);
  return webFetchParams.schema.parse({
    ...defaults,
    ...Object.fromEntries(set),
    ...Object.fromEntries(given),
  });
}

/** Whether the list is the built-in one, not one that somebody has written. */
export function isBuiltInList(domains: readonly string[]): boolean {
  return isDeepStrictEqual([...domains], [...documentationSites]);
}

function isProxy(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}

function withoutUserinfo(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  url.username = "";
  url.password = "";
  return url.href;
}
