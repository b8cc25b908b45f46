/** A request body of a provider, as JSON. */
export type RequestBody = Record<string, unknown>;

/** A fetch that lets `change` have the JSON body of each request before it leaves. */
export function fetchWithBody(
  fetch: typeof globalThis.fetch,
  change: (body: RequestBody) => RequestBody,
): typeof globalThis.fetch {
  return (resource, init) => {
    if (typeof init?.body !== "string") return fetch(resource, init);
    return fetch(resource, { ...init, body: JSON.stringify(change(JSON.parse(init.body))) });
  };
}
