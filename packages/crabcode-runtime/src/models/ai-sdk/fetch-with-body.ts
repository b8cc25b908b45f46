/**
 * A fetch that puts `extra` into the JSON body of each request, over what is there, and `extraBody` of a profile
 * reaches keys the packages do not know.
 */
export function fetchWithBody(
  fetch: typeof globalThis.fetch,
  extra: Readonly<Record<string, unknown>>,
): typeof globalThis.fetch {
  if (Object.keys(extra).length === 0) return fetch;
  return (resource, init) => {
    if (typeof init?.body !== "string") return fetch(resource, init);
    return fetch(resource, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), ...extra }) });
  };
}
