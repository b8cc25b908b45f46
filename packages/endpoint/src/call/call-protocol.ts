import type { IncomingHttpHeaders } from "node:http";
import type { Exchange } from "../exchange/exchange.ts";
import { parseConnectTimeout, parseGrpcTimeout } from "./connect-protocol.ts";
import type { RequestHeaders } from "./request-headers.ts";

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

/** Whether a call is gRPC with binary messages and nothing compressed, as most are. */
export function isPlainGrpc(
  { method, headers }: Pick<Exchange, "method" | "headers">,
  request: Pick<RequestHeaders, "get">,
): boolean {
  const type = headers["content-type"];
  if (method !== "POST" || (type !== "application/grpc" && type !== "application/grpc+proto")) return false;
  const encoding = headers["grpc-encoding"];
  if (encoding !== undefined && encoding !== "identity") return false;
  // What the client takes counts only as far as this connection may be compressed at all.
  const accepted = request.get("grpc-accept-encoding");
  if (accepted !== undefined && accepted !== "identity") return false;
  const timeout = headers["grpc-timeout"];
  return (
    typeof timeout !== "string" || parseGrpcTimeout(timeout, Number.MAX_SAFE_INTEGER).error === undefined
  );
}

/** The time the client gives the call, if it says so in a way we understand. */
export function timeoutOf(protocol: CallProtocol, headers: IncomingHttpHeaders): number | undefined {
  const isConnect = protocol === "connect-unary" || protocol === "connect-stream";
  const value = headers[isConnect ? "connect-timeout-ms" : "grpc-timeout"];
  if (typeof value !== "string") return undefined;
  return (isConnect ? parseConnectTimeout : parseGrpcTimeout)(value, Number.MAX_SAFE_INTEGER).timeoutMs;
}
