import type { Hello } from "./client-message.ts";
import type { Ready, Rejection } from "./host-message.ts";

const VERSION = 1;

/** Room for 4096 unanswered calls instead of {@link DEFAULT_CAPACITY}. */
const LARGE_CAPACITY = "delegate-capacity-4096";

/** A second socket for what is large. */
const DUAL_SOCKET = "dual-websocket-v1";

const DEFAULT_CAPACITY = 1024;

/**
 * What every connection may have. Most of them only tell clients what they may send: this host understands it
 * from everybody.
 */
const capabilities: readonly string[] = [
  "bounded-output-v1",
  LARGE_CAPACITY,
  "session-cell-execution-resource-limits",
  "tool-catalog-revision-v1",
  "yield-observation",
];

/** The answer to a hello. */
export type Negotiation =
  | { readonly type: "ready"; readonly ready: Ready; readonly maxDelegates: number }
  | { readonly type: "rejected"; readonly reason: Rejection };

/** True when the client asks for a second socket. */
export function wantsBulk({ requiredCapabilities, optionalCapabilities }: Hello): boolean {
  return requiredCapabilities.includes(DUAL_SOCKET) || optionalCapabilities.includes(DUAL_SOCKET);
}

/** @param mayHaveBulk whether a second socket can be had */
export function negotiate(hello: Hello, mayHaveBulk: boolean): Negotiation {
  const { supportedVersions, requiredCapabilities, optionalCapabilities } = hello;
  if (!supportedVersions.includes(BigInt(VERSION))) {
    return { type: "rejected", reason: { type: "noCompatibleVersion", supportedVersions: [VERSION] } };
  }
  const available = new Set(mayHaveBulk ? [...capabilities, DUAL_SOCKET] : capabilities);
  const [missing] = inByteOrder(requiredCapabilities.filter((name) => !available.has(name)));
  if (missing !== undefined) {
    return { type: "rejected", reason: { type: "missingRequiredCapability", capability: missing } };
  }
  const wanted = [...requiredCapabilities, ...optionalCapabilities];
  const granted = inByteOrder(wanted.filter((name) => available.has(name)));
  return {
    type: "ready",
    ready: { selectedVersion: VERSION, capabilities: granted },
    maxDelegates: granted.includes(LARGE_CAPACITY) ? 4096 : DEFAULT_CAPACITY,
  };
}

/** Bytes of UTF-8 sort like code points; the units of JavaScript texts do not. */
function inByteOrder(names: readonly string[]): string[] {
  return names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}
