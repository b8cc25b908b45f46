import { classifyAddress } from "../net/address-class.ts";
import { parseIp } from "../net/ip-number.ts";
import { shorten } from "../shorten.ts";

/** Longest address that is looked at, in characters. */
const MAX_URL_LENGTH = 2000;

/** What an address breaks. `url`: its form; `address`: it is no place to connect to. */
export interface AddressProblem {
  readonly reason: "url" | "address";
  readonly message: string;
}

/**
 * An address as a caller gives it, checked and made secure: `http` becomes `https` everywhere but on this machine.
 * Nothing is looked up.
 */
export function checkPageAddress(text: string, allowLocal: boolean): URL | AddressProblem {
  if (text.length > MAX_URL_LENGTH) {
    return broken(`the URL has ${text.length} characters, at most ${MAX_URL_LENGTH} are allowed`);
  }
  const url = URL.parse(text.trim());
  if (url === null)
    return broken(`${shorten(text)} is not a URL; a complete one starts with https:// or http://`);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return broken(`${url.protocol} addresses cannot be fetched, only http: and https:`);
  }
  if (url.username !== "" || url.password !== "") {
    return broken("the URL holds a user name or password; fetch it without them");
  }
  const isLocal = isLocalHost(url.hostname);
  if (isLocal && !allowLocal) {
    return forbidden(`${url.hostname} is this machine, which may not be fetched from`);
  }
  if (!isLocal) {
    const problem = hostProblem(url.hostname);
    if (problem !== undefined) return problem;
    if (url.protocol === "http:") url.protocol = "https:";
  }
  url.hash = "";
  return url;
}

/** Whether a host says itself that it is this machine: `localhost`, 127.0.0.0/8 or `::1`. */
export function isLocalHost(hostname: string): boolean {
  return hostname.replace(/\.$/, "") === "localhost" || classifyAddress(hostname) === "loopback";
}

function hostProblem(hostname: string): AddressProblem | undefined {
  if (parseIp(hostname) === undefined) {
    return hostname.replace(/\.$/, "").includes(".")
      ? undefined
      : broken(`${hostname} is not a name on the internet: it has no dot`);
  }
  const addressClass = classifyAddress(hostname);
  return addressClass === "public"
    ? undefined
    : forbidden(`${hostname} is a ${addressClass} address, which may not be fetched from`);
}

function broken(message: string): AddressProblem {
  return { reason: "url", message };
}

function forbidden(message: string): AddressProblem {
  return { reason: "address", message };
}
