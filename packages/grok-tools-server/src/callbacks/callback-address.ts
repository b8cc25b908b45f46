import { TriviumError } from "@trivium/core";
import { type AddressClass, type ResolveHost, resolveChecked } from "@trivium/grok-tools-runtime/internal";

/** Which services may be called. */
export interface AddressPolicy {
  /** Hosts besides this machine, as names or addresses; `host:port` allows one port only. */
  readonly allowHosts: readonly string[];
  /** Send secrets over `http` to other machines. */
  readonly allowInsecure: boolean;
}

/** The base URL of an address: `host:port` means `http`. */
export function toBaseUrl(address: string): URL {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url;
  throw new TriviumError(
    "invalidInput",
    "the callback address is neither host:port nor an http or https URL",
  );
}

/**
 * The addresses to connect to, once checked: this machine always, other hosts when they are allowed, link-local and
 * metadata addresses never.
 *
 * @throws {@link TriviumError} `permissionDenied` naming the setting, `unavailable` when the name has no address.
 */
export async function checkedAddresses(
  url: URL,
  { allowHosts, allowInsecure }: AddressPolicy,
  { hasSecret, resolve, signal }: { hasSecret: boolean; resolve: ResolveHost; signal: AbortSignal },
): Promise<readonly string[]> {
  const isAllowed = allowHosts.some((host) => isSameHost(host, url));
  const classes = new Set<AddressClass>();
  const permits = (addressClass: AddressClass): boolean => {
    classes.add(addressClass);
    if (addressClass === "loopback") return true;
    return isAllowed && (addressClass === "public" || addressClass === "private");
  };
  const addresses = await resolveChecked(url.hostname, { resolve, permits, signal }).catch(
    (cause: unknown) => {
      if (isAllowed || !TriviumError.isInstance(cause) || cause.kind !== "permissionDenied") throw cause;
      const message = `callbacks to ${url.hostname} are not allowed; the setting callbacks.allowHosts lists the hosts that are`;
      throw new TriviumError("permissionDenied", message, { cause });
    },
  );
  const isRemote = [...classes].some((addressClass) => addressClass !== "loopback");
  if (isRemote && hasSecret && url.protocol === "http:" && !allowInsecure) {
    throw new TriviumError(
      "permissionDenied",
      "a secret is not sent over http to another machine; use an https address, or the setting callbacks.allowInsecure",
    );
  }
  return addresses;
}

function isSameHost(allowed: string, url: URL): boolean {
  const wanted = allowed.trim().toLowerCase();
  const { hostname } = url;
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return [hostname, hostname.replace(/^\[|\]$/g, ""), `${hostname}:${port}`].includes(wanted);
}
