import { isIP } from "node:net";
import { ConfigError } from "./config-error.ts";
import { parseListenAddress } from "./listen-address.ts";

/** Where a stand-alone code-mode host talks to its clients. */
export type CodeModeAddress =
  /** Frames of the JSON protocol V1 on standard input and output. */
  | { readonly carrier: "stdio" }
  /** HTTP/2 on standard input and output. */
  | { readonly carrier: "grpc+stdio" }
  /** HTTP/2, or V1 over WebSockets, on an IP address; port 0 takes a free one. */
  | {
      readonly carrier: "grpc" | "ws";
      readonly host: string;
      readonly port: number;
      readonly isLoopback: boolean;
    };

/**
 * Parses what `--listen` of the code-mode host takes.
 *
 * @throws {@link ConfigError} when it is nothing of it.
 */
export function parseCodeModeAddress(text: string): CodeModeAddress {
  const [, scheme, rest] = /^([a-z+]+)(?:$|:\/\/(.*)$)/.exec(text) ?? [];
  const isBare = rest === undefined || rest === "";
  if (isBare && (scheme === "stdio" || scheme === "grpc+stdio")) return { carrier: scheme };
  if (!isBare && (scheme === "grpc" || scheme === "ws")) {
    const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):\d+$/.exec(rest);
    if (isIP(match?.[1] ?? match?.[2] ?? "") !== 0) return { carrier: scheme, ...parseListenAddress(rest) };
  }
  throw new ConfigError(
    `--listen cannot be ${text}: give stdio, grpc+stdio, grpc://IP:PORT or ws://IP:PORT, for example grpc://127.0.0.1:0`,
  );
}
