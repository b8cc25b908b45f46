import { domainToASCII } from "node:url";

/**
 * Whether a list of domains lets an address through.
 *
 * `host` stands for all of its pages, `host/path` for that page and those below, `*` for everything. A leading `www.`,
 * letter case, trailing dots and slashes make no difference; other subdomains do. An empty list lets nothing through.
 */
export function isListed(url: URL, entries: readonly string[]): boolean {
  const host = normalizeHost(url.hostname);
  const path = pathOf(url);
  return entries.some((entry) => {
    if (entry.trim() === "*") return true;
    const { host: listedHost, path: listedPath } = parseEntry(entry);
    if (listedHost !== host) return false;
    if (listedPath === "") return true;
    return path !== undefined && (path === listedPath || path.startsWith(`${listedPath}/`));
  });
}

/** Whether a host is one of the domains or below one, as searches filter. */
export function isBelowDomain(hostname: string, domains: readonly string[]): boolean {
  const host = normalizeHost(hostname);
  return domains.some((domain) => {
    const listed = parseEntry(domain).host;
    return listed !== "" && (host === listed || host.endsWith(`.${listed}`));
  });
}

function parseEntry(entry: string): { readonly host: string; readonly path: string } {
  const bare = entry.trim().replace(/^https?:\/\//i, "");
  const slash = bare.indexOf("/");
  if (slash === -1) return { host: normalizeHost(bare), path: "" };
  return {
    host: normalizeHost(bare.slice(0, slash)),
    path: bare.slice(slash).replace(/\/+$/, "").toLowerCase(),
  };
}

function normalizeHost(host: string): string {
  const bare = host.trim().replace(/[/.]+$/, "");
  // As in addresses: `bücher.example` is `xn--bcher-kva.example` there. Empty for what is no name.
  const ascii = domainToASCII(bare) || bare;
  return ascii.toLowerCase().replace(/^www\./, "");
}

/** Undefined for a path that a server may read as leading out of a listed one. */
function pathOf(url: URL): string | undefined {
  const path = url.pathname.toLowerCase();
  return /%2f|%5c|%25|\\/.test(path) ? undefined : path.replace(/\/+$/, "");
}
