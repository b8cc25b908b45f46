import { isIP } from "node:net";

/** An address as one number, so that ranges can be compared. */
export interface IpNumber {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** Bits of an IPv6 address. */
const V6_BITS = 128n;

/**
 * Reads a textual IPv4 or IPv6 address, in square brackets or not. A zone (`%eth0`) is left out. Undefined for
 * anything else, old forms such as `127.1` included: a URL parser has already turned those into four numbers.
 */
export function parseIp(text: string): IpNumber | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const address = bare.replace(/%.*$/, "");
  const family = isIP(address);
  if (family === 4) return { family, value: v4Value(address) };
  if (family === 6) return { family, value: v6Value(address) };
  return undefined;
}

/** An IPv4 address that is written as IPv6 (`::ffff:a.b.c.d`) is one; anything else stays as it is. */
export function unmapped(address: IpNumber): IpNumber {
  const isMapped = address.family === 6 && address.value >> 32n === 0xffffn;
  return isMapped ? { family: 4, value: address.value & 0xffff_ffffn } : address;
}

function v4Value(address: string): bigint {
  return address.split(".").reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function v6Value(address: string): bigint {
  const [head = "", tail] = address.split("::");
  const first = groupsOf(head);
  if (tail === undefined) return joined(first);
  const last = groupsOf(tail);
  const shift = V6_BITS - BigInt(first.length) * 16n;
  return (joined(first) << shift) | joined(last);
}

/** Groups of 16 bits; a trailing dotted part counts as two. */
function groupsOf(text: string): bigint[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [BigInt(`0x${group}`)];
    const value = v4Value(group);
    return [value >> 16n, value & 0xffffn];
  });
}

function joined(groups: readonly bigint[]): bigint {
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}
