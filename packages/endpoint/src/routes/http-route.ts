/** Plain HTTP on a path of the endpoint, in web types. */
export interface HttpRoute {
  /** `/exact/path`, or a prefix that ends in `/*` (`/*` takes everything nothing else wants). */
  readonly path: string;
  /** Whether it answers without the token. Default false. */
  readonly isPublic?: boolean | undefined;
  /**
   * Answers a request; GET and HEAD only. What it throws becomes a 500 without its message. The request's signal
   * aborts when the client is gone; the response body is cancelled then.
   */
  readonly handle: (request: Request) => Response | Promise<Response>;
}

/** The first route that takes a path; exact ones before prefixes, longer prefixes before shorter. */
export function findRoute(routes: readonly HttpRoute[], path: string): HttpRoute | undefined {
  const exact = routes.find((route) => route.path === path);
  if (exact !== undefined) return exact;
  return routes
    .filter((route) => route.path.endsWith("/*") && path.startsWith(route.path.slice(0, -1)))
    .sort((a, b) => b.path.length - a.path.length)[0];
}
