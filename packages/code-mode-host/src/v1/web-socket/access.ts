import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Parameter of the query that carries the token for clients that cannot set headers. */
const TOKEN_PARAMETER = "token";

/**
 * Whether a request may open a socket: 403 for one that a web page makes, 401 without the token where one is needed,
 * undefined when it may.
 */
export function refusalOf(
  request: IncomingMessage,
  url: URL,
  token: string | undefined,
): 401 | 403 | undefined {
  if (request.headers.origin !== undefined) return 403;
  if (token === undefined) return undefined;
  const presented = bearerOf(request.headers.authorization) ?? url.searchParams.get(TOKEN_PARAMETER) ?? "";
  // Digests have one length: the time says nothing about the token.
  return timingSafeEqual(digest(presented), digest(token)) ? undefined : 401;
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization?.trim() ?? "")?.[1];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
