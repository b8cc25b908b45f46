import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/**
 * Request headers in web form, without HTTP/2's pseudo-headers.
 *
 * @throws TypeError when a value cannot be in a header
 */
export function toWebHeaders(headers: IncomingHttpHeaders): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    if (typeof value === "string") result.append(name, value);
    else for (const item of value) result.append(name, item);
  }
  return result;
}

/** Response headers or trailers in Node's form. */
export function toNodeHeaders(headers: Headers): OutgoingHttpHeaders {
  const result: OutgoingHttpHeaders = {};
  for (const [name, value] of headers) {
    if (name !== "set-cookie") result[name] = value;
  }
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) result["set-cookie"] = cookies;
  return result;
}
