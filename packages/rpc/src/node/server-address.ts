import { TriviumError } from "@trivium/core";

/** Where a server is. */
export interface ServerAddress {
  /** What requests are addressed to: scheme, host and port. */
  readonly origin: string;
  /** The Unix socket to connect to in place of host and port. */
  readonly socketPath: string | undefined;
}

/**
 * Reads the address of a server: `http://host:port`, `https://host:port` or `unix:/path/of/the/socket`.
 *
 * @throws {@link TriviumError} `invalidInput` for anything else. The message does not repeat the address, which may hold
 * a password.
 */
export function parseServerAddress(address: string): ServerAddress {
  const [, socketPath] = /^unix:(?:\/\/)?(\/(?!\/)[^?#\0]+)$/.exec(address) ?? [];
  if (socketPath !== undefined) return { origin: "http://localhost", socketPath };
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw refusal("is none: it is http://HOST:PORT, https://HOST:PORT or unix:/PATH");
  }
  if (url.username !== "" || url.password !== "") throw refusal("has a user name; give a token instead");
  if (url.pathname !== "/") throw refusal("has a path; it ends with the port");
  if (/[?#]/.test(address)) throw refusal("has a query or a fragment; it ends with the port");
  return { origin: url.origin, socketPath: undefined };
}

function refusal(what: string): TriviumError {
  return new TriviumError("invalidInput", `the address of the server ${what}`);
}
