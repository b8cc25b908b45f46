import type { IncomingHttpHeaders } from "node:http";
import { parseConnectTimeout, parseGrpcTimeout } from "./connect-protocol.ts";

/** How a call is framed on the wire. */
export type CallProtocol = "grpc" | "grpc-web" | "connect-unary" | "connect-stream";

/**
 * The protocol a request speaks, by its content type, or undefined when it is no RPC. A Connect GET has none, and is
 * recognised by its query.
 */
export function callProtocolOf(
  method: string,
  target: string,
  headers: IncomingHttpHeaders,
): CallProtocol | undefined {
  if (method === "GET") return /[?&]encoding=/.test(target) ? "connect-unary" : undefined;
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (/^application\/grpc(\+[\w.-]+)?$/.test(type)) return "grpc";
  if (/^application\/grpc-web(-text)?(\+[\w.-]+)?$/.test(type)) return "grpc-web";
  if (/^application\/connect\+[\w.-]+$/.test(type)) return "connect-stream";
  if (type === "application/proto" || type === "application/json") return "connect-unary";
  return undefined;
}

/** The time the client gives the call, if it says so in a way we understand. */
export function timeoutOf(protocol: CallProtocol, headers: IncomingHttpHeaders): number | undefined {
  const isConnect = protocol === "connect-unary" || protocol === "connect-stream";
  const value = headers[isConnect ? "connect-timeout-ms" : "grpc-timeout"];
  if (typeof value !== "string") return undefined;
  return (isConnect ? parseConnectTimeout : parseGrpcTimeout)(value, Number.MAX_SAFE_INTEGER).timeoutMs;
}
