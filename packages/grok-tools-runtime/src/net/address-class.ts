import { type IpNumber, parseIp, unmapped } from "./ip-number.ts";

/**
 * What an address is good for.
 *
 * - `public`: reachable by everyone.
 * - `loopback`: this machine.
 * - `private`: a local network: RFC 1918, unique local, the shared space of providers.
 * - `link-local`: one cable; the metadata services of most clouds are here.
 * - `metadata`: metadata services of clouds at other addresses.
 * - `reserved`: not for one host on the internet: unspecified, multicast, documentation, tests, transition mechanisms
 *   that may lead to any of the others.
 */
export type AddressClass = "public" | "loopback" | "private" | "link-local" | "metadata" | "reserved";

/** The class of a textual IP address, brackets and zone allowed. Text that is no address is `reserved`. */
export function classifyAddress(address: string): AddressClass {
  const parsed = parseIp(address);
  if (parsed === undefined) return "reserved";
  const { family, value } = unmapped(parsed);
  const found = ranges.find((range) => range.family === family && value >> range.shift === range.prefix);
  if (found !== undefined) return found.class;
  // Of IPv6 only 2000::/3 has been handed out for single hosts.
  return family === 4 || value >> 125n === 1n ? "public" : "reserved";
}

interface Range {
  readonly family: IpNumber["family"];
  /** Bits to drop before comparing. */
  readonly shift: bigint;
  readonly prefix: bigint;
  readonly class: AddressClass;
}

/** Sources: IANA special-purpose registries for IPv4 and IPv6. The first that matches counts. */
const ranges: readonly Range[] = [
  // Metadata services that are not link-local: Alibaba, Azure, Oracle, Amazon over IPv6.
  toRange("100.100.100.200/32", "metadata"),
  toRange("168.63.129.16/32", "metadata"),
  toRange("192.0.0.192/32", "metadata"),
  toRange("fd00:ec2::/32", "metadata"),

  toRange("127.0.0.0/8", "loopback"),
  toRange("::1/128", "loopback"),

  toRange("10.0.0.0/8", "private"),
  toRange("100.64.0.0/10", "private"),
  toRange("172.16.0.0/12", "private"),
  toRange("192.168.0.0/16", "private"),
  toRange("fc00::/7", "private"),
  // Site-local, the predecessor of unique local.
  toRange("fec0::/10", "private"),

  toRange("169.254.0.0/16", "link-local"),
  toRange("fe80::/10", "link-local"),

  toRange("0.0.0.0/8", "reserved"),
  toRange("192.0.0.0/24", "reserved"),
  toRange("192.0.2.0/24", "reserved"),
  toRange("192.88.99.0/24", "reserved"),
  toRange("198.18.0.0/15", "reserved"),
  toRange("198.51.100.0/24", "reserved"),
  toRange("203.0.113.0/24", "reserved"),
  toRange("224.0.0.0/4", "reserved"),
  toRange("240.0.0.0/4", "reserved"),
  // Teredo, ORCHID and the other protocol assignments.
  toRange("2001::/23", "reserved"),
  toRange("2001:db8::/32", "reserved"),
  // 6to4 carries an IPv4 address.
  toRange("2002::/16", "reserved"),
  toRange("3fff::/20", "reserved"),
  // NAT64 leads to any IPv4 address; outside 2000::/3, listed because it is the one in use.
  toRange("64:ff9b::/96", "reserved"),
];

function toRange(cidr: string, addressClass: AddressClass): Range {
  const [base = "", length = ""] = cidr.split("/");
  const parsed = parseIp(base);
  if (parsed === undefined) throw new TypeError(`${cidr} is not an address range`);
  const shift = BigInt((parsed.family === 4 ? 32 : 128) - Number(length));
  return { family: parsed.family, shift, prefix: parsed.value >> shift, class: addressClass };
}
