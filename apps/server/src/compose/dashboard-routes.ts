import { dashboardFiles } from "@trivium/dashboard";
import type { HttpRoute } from "@trivium/endpoint";

const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
} as const;

/**
 * The page at `/`, with its script and style. Nothing in it needs a token: what it shows it asks for with the token of
 * the person who looks at it. Undefined when it has not been built.
 */
export function dashboardRoutes(): readonly HttpRoute[] | undefined {
  return dashboardFiles()?.map(({ path, contentType, body }) => ({
    path: `/${path}`,
    isPublic: true,
    handle: () => new Response(body, { headers: { ...headers, "content-type": contentType } }),
  }));
}
