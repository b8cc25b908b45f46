import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { abortable, TriviumError } from "@trivium/core";
import { type AddressClass, classifyAddress } from "./address-class.ts";
import { parseIp } from "./ip-number.ts";

/** Port for names: all addresses of a host, in the order to try them. Rejects when there are none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** The resolver of this machine. */
export const systemResolver: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};

/** How to check a host. */
export interface HostCheck {
  readonly resolve: ResolveHost;
  /** Whether addresses of a class may be connected to. */
  readonly permits: (addressClass: AddressClass) => boolean;
  readonly signal: AbortSignal;
}

/**
 * The addresses to connect to, looked up once: give them to {@link pinnedLookup}, so that a second answer of the name
 * server cannot lead elsewhere. One address that is not permitted refuses the whole host.
 *
 * `hostname` is as `URL.hostname` has it; a literal address is not looked up.
 *
 * @throws {@link TriviumError} `permissionDenied` for an address, `unavailable` when the name cannot be resolved, and
 * the reason of the signal.
 */
export async function resolveChecked(
  hostname: string,
  { resolve, permits, signal }: HostCheck,
): Promise<readonly string[]> {
  const addresses = await addressesOf(hostname, { resolve, signal });
  const refused = addresses.find((address) => !permits(classifyAddress(address)));
  if (refused !== undefined) {
    throw new TriviumError(
      "permissionDenied",
      `${hostname} is at a ${classifyAddress(refused)} address (${refused}), which may not be connected to`,
    );
  }
  return addresses;
}

async function addressesOf(
  hostname: string,
  { resolve, signal }: Pick<HostCheck, "resolve" | "signal">,
): Promise<readonly string[]> {
  if (parseIp(hostname) !== undefined) return [hostname.replace(/^\[|\]$/g, "")];
  let addresses: readonly string[];
  try {
    addresses = await abortable(resolve(hostname), signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new TriviumError("unavailable", `cannot find the address of ${hostname}`, { cause });
  }
  if (addresses.length > 0) return addresses;
  throw new TriviumError("unavailable", `${hostname} has no address`);
}

/**
 * A `lookup` for `net.connect` that answers with addresses checked before, whatever name is asked for.
 */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  return (_hostname, options, callback) => {
    const wanted = familyOf(options.family);
    const answers = addresses
      .map((address) => ({ address, family: parseIp(address)?.family ?? 4 }))
      .filter(({ family }) => wanted === 0 || family === wanted);
    const [first] = answers;
    if (first === undefined) {
      const error = Object.assign(new Error("no checked address of the wanted family"), {
        code: "ENOTFOUND",
      });
      callback(error, "");
      return;
    }
    if (options.all === true) callback(null, answers);
    else callback(null, first.address, first.family);
  };
}

/** 0 means both. */
function familyOf(family: number | "IPv4" | "IPv6" | undefined): number {
  if (family === "IPv4") return 4;
  if (family === "IPv6") return 6;
  return family ?? 0;
}
