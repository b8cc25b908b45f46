import { isIP } from "node:net";
import { ConfigError } from "./config-error.ts";

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly isLoopback: boolean;
}

/**
 * Parses HOST:PORT; an IPv6 address stands in brackets.
 *
 * @throws {@link ConfigError} when it is no such text.
 */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && isIP(host) !== 6)) {
    throw new ConfigError(`listen cannot be ${text}: give HOST:PORT, for example 127.0.0.1:7411 or [::1]:0`);
  }
  return { host, port, isLoopback: isLoopback(host) };
}

function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}
