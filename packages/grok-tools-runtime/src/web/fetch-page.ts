import { TriviumError } from "@trivium/core";
import { type ResolveHost, resolveChecked } from "../net/host-lookup.ts";
import { isListed } from "./domain-policy.ts";
import { type AddressProblem, checkPageAddress, isLocalHost } from "./page-address.ts";
import { ACCEPTED_ENCODINGS, readBody } from "./read-body.ts";
import { type HttpResponse, sendRequest } from "./send-request.ts";
import { isBuiltInList, type WebFetchParams } from "./web-fetch-params.ts";

/** How the outside world is reached; tests put their own in its place. */
export interface WebAccess {
  readonly resolve: ResolveHost;
  /** Certificates to trust instead of the usual ones. PEM */
  readonly ca?: string | undefined;
}

/** What to fetch, under which rules. */
export interface PageRequest {
  /** Checked by {@link checkPageAddress}. */
  readonly url: URL;
  readonly params: WebFetchParams;
  readonly access: WebAccess;
  readonly signal: AbortSignal;
}

/** A page, whatever its status, or why none was fetched. */
export type PageAnswer =
  | FetchedPage
  | { readonly kind: "domain-not-allowed"; readonly host: string }
  | { readonly kind: "other-host"; readonly originalHost: string; readonly redirectUrl: string }
  | { readonly kind: "bad-address"; readonly problem: AddressProblem };

export interface FetchedPage {
  readonly kind: "page";
  /** After redirects. */
  readonly url: URL;
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

const MAX_REDIRECTS = 10;
const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5",
  "accept-language": "en-US,en;q=0.9",
  "accept-encoding": ACCEPTED_ENCODINGS,
  "user-agent": "trivium-web-fetch",
};

/** Whether the session's list of domains lets an address through. */
export function isAllowedPage(
  url: URL,
  { allowed_domains: domains, allow_local: allowLocal }: WebFetchParams,
): boolean {
  // Who lets this machine be fetched and names no hosts means this machine too; a list of one's own is complete.
  return (allowLocal && isLocalHost(url.hostname) && isBuiltInList(domains)) || isListed(url, domains);
}

/**
 * Fetches a page. Every address on the way, redirects included, passes the same checks: its form, the domains, then
 * what its name stands for, looked up once. Redirects to another host are not followed.
 *
 * @throws {@link TriviumError} `permissionDenied` for an address that may not be connected to, `unavailable` when there
 * is no answer, `outOfRange` for a large and `dataLoss` for a broken body, `failedPrecondition` for too many
 * redirects; the reason of the signal.
 */
export async function fetchPage({ url: first, params, access, signal }: PageRequest): Promise<PageAnswer> {
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    if (!isAllowedPage(url, params)) return { kind: "domain-not-allowed", host: url.hostname };
    await using response = await connect(url, { params, access, signal });
    const next = redirectTarget(response, url);
    if (next === undefined) {
      const body = await readBody(response, { url, maxBytes: params.max_content_length, signal });
      const contentType = response.header("content-type");
      return { kind: "page", url, status: response.status, contentType, body };
    }
    const checked = checkPageAddress(next.href, params.allow_local);
    if (!(checked instanceof URL)) return { kind: "bad-address", problem: checked };
    if (checked.hostname !== url.hostname) {
      return { kind: "other-host", originalHost: url.hostname, redirectUrl: checked.href };
    }
    url = checked;
  }
  throw new TriviumError("failedPrecondition", `${first.host} redirects more than ${MAX_REDIRECTS} times`);
}

async function connect(
  url: URL,
  { params, access, signal }: Omit<PageRequest, "url">,
): Promise<HttpResponse> {
  const isLocal = isLocalHost(url.hostname);
  const addresses = await resolveChecked(url.hostname, {
    resolve: access.resolve,
    permits: (addressClass) => addressClass === "public" || (isLocal && addressClass === "loopback"),
    signal,
  });
  // A proxy stands between here and the internet, not between here and here.
  const proxy = isLocal ? undefined : (params.proxy_endpoint ?? undefined);
  return await sendRequest({ url, headers: HEADERS, addresses, proxy, ca: access.ca, signal });
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function redirectTarget(response: HttpResponse, url: URL): URL | undefined {
  const location = response.header("location");
  if (!REDIRECTS.has(response.status) || location === undefined) return undefined;
  return URL.parse(location, url) ?? undefined;
}
